# SPDX-License-Identifier: MIT
"""Libraries that train: loops with callbacks and logs, and optimizers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import torch
from more_libraries import draws, fill
from small_libraries import mlp
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def batches():
    """Return the batches of 32 samples of two classes."""
    return DataLoader(TensorDataset(draws(32, 4), torch.arange(32) % 2), batch_size=8)


def lightning():
    """Train for 20 steps with callbacks and a log, load the best, go on from it."""
    import pytorch_lightning as pl
    from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

    class Module(pl.LightningModule):
        def __init__(self, lr=0.05):
            super().__init__()
            self.save_hyperparameters()
            self.net = mlp()
            self.losses = []

        def training_step(self, batch, index):
            loss = F.cross_entropy(self.net(batch[0]), batch[1])
            self.log("loss", loss, on_step=True, on_epoch=True)
            self.losses.append(loss.item())
            return loss

        def validation_step(self, batch, index):
            self.log("val", F.cross_entropy(self.net(batch[0]), batch[1]))

        def predict_step(self, batch, index):
            return self.net(batch[0])

        def configure_optimizers(self):
            optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
            schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
            return {"optimizer": optimizer, "lr_scheduler": schedule}

    quiet = {"accelerator": "cpu", "enable_progress_bar": False}
    with tempfile.TemporaryDirectory() as folder:
        best = ModelCheckpoint(folder, monitor="val", filename="best")
        module = Module()
        trainer = pl.Trainer(
            max_epochs=5,
            default_root_dir=folder,
            logger=pl.loggers.CSVLogger(folder),
            callbacks=[best, EarlyStopping("val", patience=3)],
            gradient_clip_val=1.0,
            log_every_n_steps=1,
            **quiet,
        )
        trainer.fit(module, batches(), batches())
        text = (Path(trainer.logger.log_dir) / "metrics.csv").read_text()
        assert "loss_epoch" in text
        again = Module.load_from_checkpoint(best.best_model_path, weights_only=False)
        predicted = torch.cat(trainer.predict(again, batches()))
        assert again.hparams.lr == 0.05
    return {
        "after steps, losses": np.array(module.losses),
        "after steps, best": predicted.detach().numpy(),
    }


def ignite():
    """Train with handlers, evaluate with metrics, keep a checkpoint."""
    from ignite.engine import (
        Events,
        create_supervised_evaluator,
        create_supervised_trainer,
    )
    from ignite.handlers import ModelCheckpoint, PiecewiseLinear, TerminateOnNan
    from ignite.metrics import Accuracy, ConfusionMatrix, Loss, RunningAverage

    model, measure = mlp(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = create_supervised_trainer(model, optimizer, measure)
    metrics = {"right": Accuracy(), "loss": Loss(measure), "table": ConfusionMatrix(2)}
    evaluator = create_supervised_evaluator(model, metrics)
    RunningAverage(output_transform=lambda x: x).attach(trainer, "average")
    rate = PiecewiseLinear(optimizer, "lr", [(0, 0.1), (10, 0.01)])
    trainer.add_event_handler(Events.ITERATION_STARTED, rate)
    trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
    with tempfile.TemporaryDirectory() as folder:
        kept = ModelCheckpoint(folder, "model", create_dir=True)
        trainer.add_event_handler(Events.EPOCH_COMPLETED, kept, {"model": model})
        trainer.run(batches(), max_epochs=3)
        weight = torch.load(kept.last_checkpoint)["0.weight"]
    evaluator.run(batches())
    return {
        "after steps, loss": np.array(evaluator.state.metrics["loss"]),
        "after steps, average": np.array(trainer.state.metrics["average"]),
        "after steps, weight": weight.numpy(),
        "table": evaluator.state.metrics["table"].numpy(),
    }


def fastai():
    """One cycle of a Learner, its predictions, the search of a learning rate."""
    from fastai.callback import schedule  # noqa: F401  gives methods to Learner
    from fastai.data.core import DataLoaders
    from fastai.data.load import DataLoader as Loader
    from fastai.learner import Learner
    from fastai.metrics import accuracy

    data = batches().dataset
    loaders = DataLoaders(Loader(data, bs=16), Loader(data, bs=16))
    learner = Learner(loaders, mlp(), loss_func=nn.CrossEntropyLoss(), metrics=accuracy)
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(2, 1e-2)
        predicted, _ = learner.get_preds()
        with tempfile.TemporaryDirectory() as folder:
            learner.path = Path(folder)
            learner.lr_find(show_plot=False, num_it=8)
    return {"after steps": predicted.detach().numpy()}


def stable_baselines3():
    """PPO on CartPole, saved and loaded; what its policy says of actions."""
    from stable_baselines3 import PPO

    settings = {"n_steps": 64, "batch_size": 32, "n_epochs": 2, "device": "cpu"}
    agent = PPO("MlpPolicy", "CartPole-v1", seed=0, **settings)
    agent.learn(128)
    with tempfile.TemporaryDirectory() as folder:
        agent.save(f"{folder}/agent")
        again = PPO.load(f"{folder}/agent", device="cpu")
    seen = np.zeros(4, np.float32)
    chosen = [one.predict(seen, deterministic=True)[0] for one in (agent, again)]
    assert chosen[0] == chosen[1]
    fill(again.policy)
    actions = torch.tensor([0, 1, 0, 1, 1])
    values, chances, entropy = again.policy.evaluate_actions(draws(5, 4), actions)
    return {
        "values": values.detach().numpy(),
        "chances": chances.detach().numpy(),
        "entropy": entropy.detach().numpy(),
    }


def tabnet():
    """Train a classifier of tables, and a network with fixed weights."""
    from pytorch_tabnet.tab_model import TabNetClassifier
    from pytorch_tabnet.tab_network import TabNet

    x = draws(64, 6).numpy()
    y = (x[:, 0] > 0).astype(int)
    classifier = TabNetClassifier(verbose=0, n_d=4, n_a=4, seed=0)
    classifier.fit(x, y, max_epochs=3, batch_size=32, virtual_batch_size=16)
    assert classifier.predict_proba(x).shape == (64, 2)
    net = fill(TabNet(6, 2, n_d=4, n_a=4, group_attention_matrix=torch.eye(6)))
    found, loss = net.eval()(draws(8, 6))
    return {"found": found.detach().numpy(), "loss": loss.detach().numpy()}


def optimizers():
    """torch_optimizer, madgrad, dadaptation: the outputs after four steps."""
    import dadaptation
    import madgrad
    import torch_optimizer

    names = "AdaBound AdaMod DiffGrad Lamb NovoGrad QHAdam Ranger RAdam SGDP Yogi"
    kinds = [getattr(torch_optimizer, name) for name in names.split()]
    kinds += [madgrad.MADGRAD, dadaptation.DAdaptAdam, dadaptation.DAdaptSGD]
    values = {}
    for kind in kinds:
        model = mlp()
        optimizer = kind(model.parameters())
        for _ in range(4):
            optimizer.zero_grad()
            model(draws(6, 4)).pow(2).sum().backward()
            optimizer.step()
        found = model(draws(6, 4)).detach().numpy()
        values[f"after steps of {kind.__name__}"] = found
    return values


RUNS = {
    run.__name__: run
    for run in (fastai, ignite, lightning, optimizers, stable_baselines3, tabnet)
}
NAMES = list(RUNS)


def run(name):
    """Return the values of a run."""
    return RUNS[name]()
