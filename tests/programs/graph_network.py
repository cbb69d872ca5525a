# SPDX-License-Identifier: MIT
"""A graph convolutional network in the manner of older programs."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.autograd import Variable
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


class GraphConvolution(Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.Tensor(out_features))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.mm(adj, support)
        return output + self.bias if self.bias is not None else output

    def __repr__(self):
        name = self.__class__.__name__
        return f"{name} ({self.in_features} -> {self.out_features})"


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.gc2(x, adj), dim=1)


def graph(nodes=24, classes=3):
    """Nodes of a class are joined more often than others."""
    rng = np.random.default_rng(2)
    labels = np.arange(nodes) % classes
    same = labels[:, None] == labels
    edges = rng.random((nodes, nodes)) < np.where(same, 0.5, 0.05)
    edges = np.maximum(edges, edges.T) | np.eye(nodes, dtype=bool)
    adj = edges / edges.sum(1, keepdims=True)
    features = rng.normal(0, 1, (nodes, 5)) + np.eye(5)[labels]
    return torch.FloatTensor(adj), torch.FloatTensor(features), torch.LongTensor(labels)


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    return correct.sum() / len(labels)


def main():
    adj, features, labels = graph()
    idx_train, idx_val = torch.LongTensor(range(12)), torch.LongTensor(range(12, 24))
    model = GCN(features.shape[1], 8, labels.max().item() + 1, dropout=0.0)
    rng = np.random.default_rng(1)
    for p in model.parameters():
        p.data = torch.Tensor(rng.uniform(-0.5, 0.5, tuple(p.size())))
    optimizer = optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)
    features, adj, labels = Variable(features), Variable(adj), Variable(labels)

    losses = []
    for _epoch in range(25):
        model.train()
        optimizer.zero_grad()
        output = model(features, adj)
        loss_train = F.nll_loss(output[idx_train], labels[idx_train])
        loss_train.backward()
        optimizer.step()
        model.eval()
        output = model(features, adj)
        losses.append(F.nll_loss(output[idx_val], labels[idx_val]).item())
    return [*losses, accuracy(output[idx_val], labels[idx_val]).item()]


if __name__ == "__main__":
    print(main())
