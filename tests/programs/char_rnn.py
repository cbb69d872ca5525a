# SPDX-License-Identifier: MIT
"""A character model: embedding, LSTM, truncated backpropagation, greedy writing."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = "the cat sat on the mat and the dog sat on the log. " * 4


class CharRNN(nn.Module):
    def __init__(self, vocab_size, embed_size=12, hidden_size=20, num_layers=2):
        super().__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.embed = nn.Embedding(vocab_size, embed_size)
        self.lstm = nn.LSTM(embed_size, hidden_size, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, vocab_size)

    def forward(self, x, hidden=None):
        out, hidden = self.lstm(self.embed(x), hidden)
        return self.fc(out), hidden

    def init_hidden(self, batch_size):
        weight = next(self.parameters())
        shape = self.num_layers, batch_size, self.hidden_size
        return weight.new_zeros(*shape), weight.new_zeros(*shape)


def initialise(model):
    rng = np.random.default_rng(1)
    for name, param in model.named_parameters():
        if "bias" in name:
            nn.init.constant_(param, 0.0)
        else:
            scale = 1.0 / np.sqrt(param.shape[-1])
            values = rng.uniform(-scale, scale, size=param.size())
            param.data = torch.tensor(values, dtype=param.dtype)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    chars = sorted(set(TEXT))
    stoi = {ch: i for i, ch in enumerate(chars)}
    data = torch.tensor([stoi[ch] for ch in TEXT], dtype=torch.long, device=device)

    batch_size, seq_len = 4, 10
    length = (len(data) - 1) // batch_size
    inputs = data[: batch_size * length].view(batch_size, length)
    targets = data[1 : batch_size * length + 1].view(batch_size, length)

    model = CharRNN(len(chars))
    initialise(model)
    model.to(device)
    criterion = nn.CrossEntropyLoss()
    steps = length // seq_len
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=0.03, epochs=5, steps_per_epoch=steps
    )

    losses = []
    for _ in range(5):
        hidden = model.init_hidden(batch_size)
        for start in range(0, steps * seq_len, seq_len):
            x = inputs[:, start : start + seq_len]
            y = targets[:, start : start + seq_len]
            hidden = tuple(h.detach() for h in hidden)
            model.zero_grad()
            logits, hidden = model(x, hidden)
            loss = criterion(logits.reshape(-1, len(chars)), y.reshape(-1))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())

    model.eval()
    with torch.inference_mode():
        token, hidden = data[:1].unsqueeze(0), None
        for _ in range(5):
            logits, hidden = model(token, hidden)
            probs = F.softmax(logits[:, -1] / 0.8, dim=-1)
            value, token = torch.topk(probs, 1)
            losses.append(value.item())
        losses.append(torch.exp(torch.tensor(losses[-6])).item())
    return losses


if __name__ == "__main__":
    print(main())
