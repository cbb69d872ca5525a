# SPDX-License-Identifier: MIT
"""Settings and parameters that optimizers refuse."""

from __future__ import annotations

from tests.refusals import refusals

import autocalc as ac
from autocalc import optim  # noqa: F401  the table uses it

P, M = ([ac.ones(*shape, requires_grad=True)] for shape in ((1,), (1, 1)))

test_what_is_refused = refusals(
    r"""
    optim.AdamW(P, betas=(0.9, 1.0)) -> ArgumentError: AdamW: `betas` is \(0.9, 1.0\);
        it must be
    optim.Adam(P, betas=(0.9,)) -> ArgumentError: Adam: `betas` is \(0.9,\)
    optim.Adam(P, betas=0.9) -> ArgumentError: Adam: `betas` is 0
    optim.Adam(P, betas=('a', 0.9)) -> ArgumentError: Adam: `betas` is \('a', 0
    optim.Adam(P, eps=-1) -> ArgumentError: Adam: `eps` is -1
    optim.AdamW(P, lr=-1) -> ArgumentError: AdamW: `lr` is -1
    optim.AdamW(P, master_weights=True, differentiable=True) -> ArgumentError:
        AdamW: `master_weights` does not support `differentiable`
    optim.SGD(P, lr=-0.1) -> ArgumentError: SGD: `lr` is -0\.1; it must be a number, 0
    optim.SGD(P, momentum=-1) -> ArgumentError: SGD: `momentum` is -1
    optim.SGD(P, weight_decay=-1) -> ArgumentError: SGD: `weight_decay` is -1
    optim.SGD(P, nesterov=True) -> ArgumentError: `nesterov` is set with `momentum`=0\.0
    optim.SGD(P, momentum=0.9, dampening=0.1, nesterov=True) -> ArgumentError: needs a
        `momentum` above 0 and a `dampening` of 0
    optim.SGD(P, lr='fast') -> ArgumentError: SGD: `lr` is 'fast'; it must be a number
    optim.SGD(P, lr=float('nan')) -> ArgumentError: SGD: `lr` is nan
    optim.SGD(P, dampening=None) -> ArgumentError: SGD: `dampening` is None; it must be
        a n
    optim.SGD(P).add_param_group({'params': [ac.zeros(1)], 'lr': -2}) -> ArgumentError:
        SGD: `lr` is -2
    optim.RMSprop(P, lr=-1.0) -> ArgumentError: RMSprop: `lr` is -1.0; it must be a
        number, 0 or more
    optim.RMSprop(P, alpha=1.5) -> ArgumentError: `alpha` is 1.5; it must be a number
        from 0 to 1
    optim.RMSprop(P, eps=-1e-08) -> ArgumentError: `eps` is -1e-08
    optim.RMSprop(P, momentum='much') -> ArgumentError: `momentum` is 'much'
    optim.RMSprop(P, weight_decay=-0.1) -> ArgumentError: `weight_decay` is -0.1
    optim.RMSprop(P, master_weights=True, differentiable=True) -> ArgumentError:
        RMSprop: `master_weights` does not support `differentiable`; give only one of
    optim.RMSprop(P, master_weights=True, differentiable=True) -> ArgumentError:
        RMSprop: `master_weights` does not support `differentiable`
    optim.Adagrad(P, lr=-1.0) -> ArgumentError: Adagrad: `lr` is -1.0; it must be a
        number, 0 or
    optim.Adagrad(P, lr_decay=-0.1) -> ArgumentError: Adagrad: `lr_decay` is -0.1
    optim.Adagrad(P, eps='small') -> ArgumentError: Adagrad: `eps` is 'small'
    optim.Adagrad(P, initial_accumulator_value=-1) -> ArgumentError:
        `initial_accumulator_value` is -1
    optim.Adagrad(P, master_weights=True, differentiable=True) -> ArgumentError:
        Adagrad: `master_weights` does not support `differentiable`
    optim.Adadelta(P, rho=1.5) -> ArgumentError: Adadelta: `rho` is 1.5; it must be a
        number from
    optim.Adadelta(P, eps=-1e-06) -> ArgumentError: Adadelta: `eps` is -1e-06
    optim.Adadelta(P, master_weights=True, differentiable=True) -> ArgumentError:
        Adadelta: `master_weights` does not support `differentiable`
    optim.Lion(P, betas=(0.9, 1.0)) -> ArgumentError: Lion: `betas` is \(0.9, 1.0\); it
        must be t
    optim.Lion(P, betas=0.9) -> ArgumentError: Lion: `betas` is 0.9; it must be two
        numbers
    optim.Lion(P, weight_decay=-0.1) -> ArgumentError: Lion: `weight_decay` is -0.1
    optim.NAdam(P, momentum_decay=-1) -> ArgumentError: NAdam: `momentum_decay` is -1;
        it must be a
    optim.NAdam(P, betas=(1.0, 0.9)) -> ArgumentError: NAdam: `betas` is \(1.0, 0.9\)
    optim.NAdam(P, decoupled_weight_decay=2) -> ArgumentError: `decoupled_weight_decay`
        is 2; it
    optim.NAdam(P, master_weights=True, differentiable=True) -> ArgumentError:
        NAdam: `master_weights` does not support `differentiable`
    optim.RAdam(P, eps=-1.0) -> ArgumentError: RAdam: `eps` is -1.0
    optim.RAdam(P, betas=0.9) -> ArgumentError: RAdam: `betas` is 0.9; it must be two
        numbers
    optim.RAdam(P, master_weights=True, differentiable=True) -> ArgumentError:
        RAdam: `master_weights` does not support `differentiable`
    optim.Adamax(P, lr='fast') -> ArgumentError: Adamax: `lr` is 'fast'
    optim.Adamax(P, betas=(0.9,)) -> ArgumentError: Adamax: `betas` is \(0.9,\)
    optim.Adamax(P, master_weights=True, differentiable=True) -> ArgumentError:
        Adamax: `master_weights` does not support `differentiable`
    optim.ASGD(P, lambd=-1) -> ArgumentError: ASGD: `lambd` is -1; it must be a number,
        0 or more
    optim.ASGD(P, alpha='x') -> ArgumentError: ASGD: `alpha` is 'x'; it must be a number
    optim.ASGD(P, t0=None) -> ArgumentError: ASGD: `t0` is None; it must be a number
    optim.ASGD(P, master_weights=True, differentiable=True) -> ArgumentError:
        ASGD: `master_weights` does not support `differentiable`
    optim.Rprop(P, etas=(1.5, 0.5)) -> ArgumentError: `etas` is .*; it must be two
        numbers, one
    optim.Rprop(P, etas=2) -> ArgumentError: Rprop: `etas` is 2
    optim.Rprop(P, step_sizes=(2, 1)) -> ArgumentError: `step_sizes` is .*, the smaller
        one first
    optim.Rprop(P, master_weights=True, differentiable=True) -> ArgumentError:
        Rprop: `master_weights` does not support `differentiable`
    optim.Adafactor(P, beta2_decay=0.8) -> ArgumentError: `beta2_decay` is 0.8; .* 0 or
        less
    optim.Adafactor(P, d=0.5) -> ArgumentError: Adafactor: `d` is 0.5; it must be a
        number, 1 or m
    optim.Adafactor(P, eps=(None, None)) -> ArgumentError: `eps` is .*; it must be None
        or a num
    optim.Adafactor(P, eps=0.001) -> ArgumentError: Adafactor: `eps` is 0.001
    optim.LBFGS(P, max_iter=0) -> ArgumentError: LBFGS: `max_iter` is 0; it must be an
        integer ab
    optim.LBFGS(P, max_eval=2.5) -> ArgumentError: LBFGS: `max_eval` is 2.5
    optim.LBFGS(P, history_size=True) -> ArgumentError: LBFGS: `history_size` is True
    optim.LBFGS(P, line_search_fn='armijo') -> ArgumentError: it must be None or
        'strong_wolfe'
    optim.LBFGS(P, tolerance_grad=-1) -> ArgumentError: LBFGS: `tolerance_grad` is -1
    optim.Muon(M, lr=-1) -> ArgumentError: Muon: `lr` is -1; it must be a number, 0 or
        more
    optim.Muon(M, momentum='x') -> ArgumentError: Muon: `momentum` is 'x'; it must be a
        number, 0 or more
    optim.Muon(M, eps=None) -> ArgumentError: Muon: `eps` is None; it must be a number
    optim.Muon(M, nesterov=3) -> ArgumentError: Muon: `nesterov` is 3; it must be True
        or False
    optim.Muon(M, ns_steps=100) -> ArgumentError: `ns_steps` is 100; it must be an
        integer from 0 to 99
    optim.Muon(M, ns_coefficients=(1, 2)) -> ArgumentError: is \(1, 2\); it must be
        three numbers
    optim.Muon(M, adjust_lr_fn='x') -> ArgumentError: is 'x'; it must be None,
        'original' or 'match_rms_
    optim.LBFGS(P).step() -> ArgumentError: LBFGS\.step: `closure` is None; it
    optim.LBFGS(P).step(lambda: 'x') -> DTypeError: `closure\(\)` is 'x'; it must
    optim.LBFGS(P).add_param_group({'params': M}) -> ArgumentError: LBFGS: several
        groups of parameters were given; give one group, because
    optim.Muon([*M, *P]) -> ShapeError: `params\[1\]` has shape \(1,\); it must be a
    optim.Muon([3]) -> DTypeError: Muon: `params\[0\]` is a int
    optim.SGD(P[0]) -> DTypeError: SGD: the params argument given to the optimizer
        should be an iterable of Tensors or dicts, .* it is one Tensor
    optim.AdamW({'params': P}) -> DTypeError: AdamW: .* it is one dict
    optim.SGD([]) -> ArgumentError: SGD: `params` is empty
    optim.SGD([*P, ('name', P[0])]) -> ArgumentError: SGD: some parameters have names
    optim.SGD([P[0] * 2]) -> ArgumentError: `params\[0\]` of shape \(1,\) was made by
        `mu
    optim.SGD(P + P) -> ArgumentError: `params\[1\]` of shape \(1,\) is given twice
    optim.SGD(P).add_param_group({'params': P}) -> ArgumentError: given twice
    optim.SGD(P).add_param_group(M) -> DTypeError: SGD: a parameter group is .* a
        dict with the key 'params'
    """,
    globals(),
)
