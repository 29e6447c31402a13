"""Runs a program in one way and keeps what it leaves behind."""
from .errors import describe
from .snapshot import address_of, leaves_of, shot_of, shot_of_output, state_of, tensors_in, widened


def fresh(program):
    """A new function and its arguments, in a PyTorch that has compiled nothing."""
    import torch

    torch.set_default_dtype(torch.float32)
    torch._dynamo.reset()
    return program.build()


def rng_state(inputs):
    import torch

    state = [torch.get_rng_state()]
    if any(t.is_cuda for t in inputs):
        state.append(torch.cuda.get_rng_state())
    return state


def observe(program, backend=None, wide=False):
    """The records of all calls. `backend`: None is eager; `wide`: with float64 for all floats."""
    import torch

    fn, args = fresh(program)
    if wide:
        fn, args = widened(fn), widened(args)
    call = fn if backend is None else program.compile(fn, backend)
    backward = bool(program.value("BACKWARD", False))
    records = [one_call(call, fn, args, backward)]
    for more in program.calls():
        records.append(one_call(call, fn, widened(tuple(more)) if wide else tuple(more), backward))
    torch.set_default_dtype(torch.float32)
    return records


def total_of(leaves):
    """The sum of all results that can be differentiated."""
    import torch

    total = None
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
            part = leaf.values().sum() if getattr(leaf, "is_nested", False) else leaf.sum()
            part = part.abs() if part.is_complex() else part
            total = part if total is None else total + part
    return total


def one_call(call, fn, args, backward):
    """{raised, outputs, inputs, state, grads, draws}; `draws`: whether it drew random numbers."""
    import torch

    record = {"raised": None, "outputs": [], "inputs": [], "state": [], "grads": [], "draws": False}
    for _, tensor in state_of(fn):
        tensor.grad = None
    inputs = tensors_in(args)
    addresses = [address_of(t) for t in inputs]
    torch.manual_seed(1)
    before = rng_state(inputs)
    phase = "call"
    try:
        out = call(*args)
        leaves = leaves_of(out)
        record["outputs"] = [shot_of_output(leaf, addresses) for leaf in leaves]
        if backward:
            phase = "backward"
            total = total_of(leaves)
            if total is not None:
                total.backward()
        if any(t.is_cuda for t in inputs):
            torch.cuda.synchronize()
    except Exception as problem:
        record["raised"] = describe(problem, phase)
        return record
    record["draws"] = any(not torch.equal(a, b) for a, b in zip(before, rng_state(inputs)))
    record["inputs"] = [shot_of(t) for t in inputs]
    record["state"] = [(n, shot_of(t)) for n, t in state_of(fn)]
    if backward:
        for label, tensor in [("arg%d" % i, t) for i, t in enumerate(inputs)] + state_of(fn):
            if tensor.is_leaf and tensor.requires_grad:
                record["grads"].append((label, None if tensor.grad is None else shot_of(tensor.grad)))
    return record
