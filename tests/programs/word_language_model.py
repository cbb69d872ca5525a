# SPDX-License-Identifier: MIT
"""A word model with an LSTM and tied weights; plain steps by hand, annealed."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = """
the river runs to the sea and the sea runs to the shore
the boat sails on the river and the wind blows from the sea
the wind blows the boat to the shore and the boat comes home
""".strip()


class Dictionary:
    def __init__(self):
        self.word2idx = {}
        self.idx2word = []

    def add_word(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]

    def __len__(self):
        return len(self.idx2word)


def tokenize(dictionary, text):
    idss = []
    for line in text.splitlines():
        words = [*line.split(), "<eos>"]
        for word in words:
            dictionary.add_word(word)
        ids = [dictionary.word2idx[word] for word in words]
        idss.append(torch.tensor(ids).type(torch.int64))
    return torch.cat(idss)


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.0, tie_weights=True):
        super().__init__()
        self.ntoken = ntoken
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            if nhid != ninp:
                raise ValueError("tied weights need one size")
            self.decoder.weight = self.encoder.weight
        self.nhid = nhid
        self.nlayers = nlayers
        self.init_weights()

    def init_weights(self):
        rng = np.random.default_rng(11)
        for name, param in self.named_parameters():
            param.data.copy_(torch.tensor(rng.uniform(-0.3, 0.3, tuple(param.shape))))
            if name == "decoder.bias":
                nn.init.zeros_(param)

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(self.drop(output))
        decoded = decoded.view(-1, self.ntoken)
        return F.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (
            weight.new_zeros(self.nlayers, bsz, self.nhid),
            weight.new_zeros(self.nlayers, bsz, self.nhid),
        )


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    data = data.narrow(0, 0, nbatch * bsz)
    return data.view(bsz, -1).t().contiguous()


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    data = source[i : i + seq_len]
    target = source[i + 1 : i + 1 + seq_len].view(-1)
    return data, target


def evaluate(model, source, criterion, bptt):
    model.eval()
    total_loss = 0.0
    hidden = model.init_hidden(source.size(1))
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, bptt):
            data, targets = get_batch(source, i, bptt)
            output, hidden = model(data, hidden)
            hidden = repackage_hidden(hidden)
            total_loss += len(data) * criterion(output, targets).item()
    return total_loss / (len(source) - 1)


def main():
    corpus = Dictionary()
    train_data = batchify(tokenize(corpus, TEXT), 4)
    model = RNNModel(len(corpus), 16, 16, 2)
    criterion = nn.NLLLoss()
    lr, best_val_loss, bptt = 2.0, None, 5
    losses = []
    for _epoch in range(6):
        model.train()
        hidden = model.init_hidden(4)
        for i in range(0, train_data.size(0) - 1, bptt):
            data, targets = get_batch(train_data, i, bptt)
            model.zero_grad()
            hidden = repackage_hidden(hidden)
            output, hidden = model(data, hidden)
            loss = criterion(output, targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            for p in model.parameters():
                p.data.add_(p.grad, alpha=-lr)
            losses.append(loss.item())
        val_loss = evaluate(model, train_data, criterion, bptt)
        losses.append(math.exp(val_loss) / len(corpus))
        if not best_val_loss or val_loss < best_val_loss:
            best_val_loss = val_loss
        else:
            lr /= 4.0
    return losses


if __name__ == "__main__":
    print(main())
