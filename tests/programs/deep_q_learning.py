# SPDX-License-Identifier: MIT
"""Deep Q-learning of a path along a line: replay, a target network, soft updates."""

import math
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

FIELDS = ("state", "action", "next_state", "reward")
Transition = namedtuple("Transition", FIELDS)  # noqa: PYI024  as tutorials have it
GAMMA, TAU, LR, BATCH_SIZE = 0.9, 0.05, 5e-3, 16


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)
        self.rng = random.Random(3)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return self.rng.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 24)
        self.layer2 = nn.Linear(24, 24)
        self.layer3 = nn.Linear(24, n_actions)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


class Line:
    """Nine places; the path ends at either end, and the right one is worth 1."""

    def reset(self):
        self.place = 4
        return self.observation()

    def observation(self):
        return [self.place / 8, math.sin(self.place)]

    def step(self, action):
        self.place += 1 if action else -1
        done = self.place in (0, 8)
        return self.observation(), float(self.place == 8), done


def initialise(net):
    rng = np.random.default_rng(8)
    for p in net.parameters():
        p.data = torch.tensor(rng.normal(0, 0.3, tuple(p.shape)), dtype=torch.float)


def optimize_model(memory, policy_net, target_net, optimizer):
    transitions = memory.sample(BATCH_SIZE)
    batch = Transition(*zip(*transitions, strict=True))
    non_final_mask = torch.tensor(
        tuple(s is not None for s in batch.next_state), dtype=torch.bool
    )
    non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
    state_batch = torch.cat(batch.state)
    action_batch = torch.cat(batch.action)
    reward_batch = torch.cat(batch.reward)

    state_action_values = policy_net(state_batch).gather(1, action_batch)
    next_state_values = torch.zeros(BATCH_SIZE)
    with torch.no_grad():
        best = target_net(non_final_next_states).max(1).values
        next_state_values[non_final_mask] = best
    expected = (next_state_values * GAMMA) + reward_batch

    criterion = nn.SmoothL1Loss()
    loss = criterion(state_action_values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


def main():
    policy_net, target_net = DQN(2, 2), DQN(2, 2)
    initialise(policy_net)
    target_net.load_state_dict(policy_net.state_dict())
    optimizer = optim.AdamW(policy_net.parameters(), lr=LR, amsgrad=True)
    memory, env, explore = ReplayMemory(200), Line(), random.Random(5)

    losses = []
    while len(losses) < 40:
        state = torch.tensor(env.reset(), dtype=torch.float32).unsqueeze(0)
        done = False
        while not done:
            action = torch.tensor([[explore.randrange(2)]], dtype=torch.long)
            observation, reward, done = env.step(action.item())
            reward = torch.tensor([reward])
            next_state = None
            if not done:
                next_state = torch.tensor(observation, dtype=torch.float32).unsqueeze(0)
            memory.push(state, action, next_state, reward)
            state = next_state
            if len(memory) >= 2 * BATCH_SIZE:
                losses.append(optimize_model(memory, policy_net, target_net, optimizer))
                target, policy = target_net.state_dict(), policy_net.state_dict()
                for key in policy:
                    target[key] = policy[key] * TAU + target[key] * (1 - TAU)
                target_net.load_state_dict(target)
    with torch.no_grad():
        values = policy_net(torch.tensor([[0.5, math.sin(4)]])).squeeze(0)
    return losses[:40] + values.exp().tolist()


if __name__ == "__main__":
    print(main())
