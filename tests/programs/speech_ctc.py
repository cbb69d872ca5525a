# SPDX-License-Identifier: MIT
"""A recurrent net reads letters from sounds that are not aligned with them, by CTC."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

LETTERS = "_abcd"


class Sounds(Dataset):
    """Each letter sounds for two to four frames, with silence before some."""

    def __init__(self, count):
        rng = np.random.default_rng(12)
        tones = rng.normal(0, 1, (len(LETTERS), 6))
        self.items = []
        for _ in range(count):
            word = rng.integers(1, len(LETTERS), rng.integers(2, 5))
            frames = []
            for letter in word:
                frames += [tones[0]] * rng.integers(1, 3)
                frames += [tones[letter]] * rng.integers(2, 5)
            sound = np.stack(frames) + rng.normal(0, 0.1, (len(frames), 6))
            self.items.append((torch.tensor(sound).float(), torch.tensor(word)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate(batch):
    sounds, words = zip(*batch, strict=True)
    input_lengths = torch.tensor([len(s) for s in sounds], dtype=torch.long)
    target_lengths = torch.tensor([len(w) for w in words], dtype=torch.long)
    padded = pad_sequence(sounds, batch_first=True)
    return padded, torch.cat(words), input_lengths, target_lengths


class SpeechModel(nn.Module):
    def __init__(self, n_feats=6, dim=16, n_class=5):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv1d(n_feats, dim, 3, padding=1), nn.GroupNorm(4, dim), nn.Hardtanh()
        )
        self.rnn = nn.LSTM(dim, dim, bidirectional=True, batch_first=True)
        self.classifier = nn.Linear(2 * dim, n_class)

    def forward(self, x, lengths):
        x = self.cnn(x.transpose(1, 2)).transpose(1, 2).contiguous()
        packed = pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=False
        )
        out, _ = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return F.log_softmax(self.classifier(out), dim=2)


def initialise(model):
    rng = np.random.default_rng(13)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.startswith("cnn.1"):
                continue
            p.copy_(torch.from_numpy(rng.uniform(-0.25, 0.25, tuple(p.shape))))


def greedy_decode(output, lengths, blank=0):
    words = []
    for row, n in zip(output.argmax(dim=2), lengths, strict=True):
        kept = torch.unique_consecutive(row[:n])
        words.append("".join(LETTERS[k] for k in kept.tolist() if k != blank))
    return words


def main():
    loader = DataLoader(Sounds(24), batch_size=8, collate_fn=collate)
    model = SpeechModel()
    initialise(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CTCLoss(blank=0, zero_infinity=True)
    losses = []
    for _epoch in range(12):
        model.train()
        for sounds, words, input_lengths, target_lengths in loader:
            optimizer.zero_grad()
            output = model(sounds, input_lengths).transpose(0, 1)  # time, batch, class
            loss = criterion(output, words, input_lengths, target_lengths)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        for sounds, words, input_lengths, target_lengths in loader:
            output = model(sounds, input_lengths)
            each = F.ctc_loss(
                output.transpose(0, 1),
                words,
                tuple(input_lengths.tolist()),
                tuple(target_lengths.tolist()),
                reduction="none",
            )
            losses.append(each.max().item())
            decoded = greedy_decode(output, input_lengths)
            losses.append(1.0 + sum(len(word) for word in decoded))
    return losses


if __name__ == "__main__":
    print(main())
