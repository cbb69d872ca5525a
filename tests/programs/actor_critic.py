# SPDX-License-Identifier: MIT
"""An actor and a critic learn to go along a line, with actions drawn by NumPy."""

from collections import namedtuple
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

SavedAction = namedtuple("SavedAction", ["log_prob", "value"])  # noqa: PYI024
GAMMA = 0.95


class Corridor:
    """Seven places; the path starts in the middle, and only the last is worth 1."""

    def reset(self):
        self.place, self.steps = 3, 0
        return self.observation()

    def observation(self):
        state = np.zeros(7, dtype=np.float64)
        state[self.place] = 1
        return state

    def step(self, action):
        self.place += (-1, 0, 1)[action]
        self.steps += 1
        done = self.place in (0, 6) or self.steps == 15
        return self.observation(), float(self.place == 6) - 0.05, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(7, 16)
        self.action_head = nn.Linear(16, 3)
        self.value_head = nn.Linear(16, 1)
        self.saved_actions = []
        self.entropies = []
        self.rewards = []

    def forward(self, x):
        x = torch.tanh(self.affine1(x))
        action_prob = F.softmax(self.action_head(x), dim=-1)
        return action_prob, self.value_head(x)


def initialise(model):
    rng = np.random.default_rng(6)
    for p in model.parameters():
        nn.init.zeros_(p)
        if p.dim() > 1:
            p.data += torch.from_numpy(rng.normal(0, 0.4, tuple(p.shape))).float()


def select_action(model, state, u):
    probs, state_value = model(torch.from_numpy(state).float())
    m = Categorical(probs)
    assert m.sample().shape == ()
    # Numbers of another generator than the library's, so that both libraries agree.
    action = torch.searchsorted(m.probs.detach().cumsum(0), torch.tensor(u))
    action = action.clamp(max=2)
    model.saved_actions.append(SavedAction(m.log_prob(action), state_value))
    model.entropies.append(m.entropy())
    return action.item()


def finish_episode(model, optimizer, eps):
    R = 0
    policy_losses, value_losses, returns = [], [], []
    for r in model.rewards[::-1]:
        R = r + GAMMA * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for (log_prob, value), R in zip(model.saved_actions, returns, strict=True):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss = loss - 0.01 * torch.stack(model.entropies).mean()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    del model.entropies[:]
    return loss.item()


def main():
    torch.manual_seed(0)
    model, env, draws = Policy(), Corridor(), np.random.default_rng(11)
    initialise(model)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    eps = np.finfo(np.float32).eps.item()
    losses, running_reward = [], 0.5
    for i_episode in count(1):
        state, ep_reward = env.reset(), 0
        for _t in range(1, 100):
            action = select_action(model, state, draws.random(dtype=np.float32))
            state, reward, done = env.step(action)
            model.rewards.append(reward)
            ep_reward += reward
            if done:
                break
        running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
        losses.append(finish_episode(model, optimizer, eps))
        if i_episode == 40:
            break
    with torch.no_grad():
        probs, value = model(torch.eye(7))
    m = Categorical(logits=probs.log())
    return [*losses, running_reward, *m.entropy().tolist(), value.exp().mean().item()]


if __name__ == "__main__":
    print(main())
