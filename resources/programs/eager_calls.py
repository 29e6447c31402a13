"""Runs a recorded program's calls as the recorder did, compiled or not: what they give, as text and tensors."""


def _kerf_run(compiled):
    import collections
    import contextlib
    import io
    import json
    import sys

    import torch

    names, tensors = [], []
    space = globals()
    backward = space.get("BACKWARD", False)

    def keep(name, tensor):
        names.append(name)
        tensors.append(tensor.detach().clone())

    def describe_tensor(value, prefix, counter):
        number = counter[0]
        counter[0] += 1
        keep(f"{prefix}{number}", value)
        text = {"tensor": number, "dtype": str(value.dtype), "shape": list(value.shape),
                "requires_grad": value.requires_grad}
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            text["type"] = type(value).__name__
            if value.__dict__:
                text["attributes"] = {name: repr(item) for name, item in value.__dict__.items()}
        return text

    def describe(value, prefix, counter):
        if isinstance(value, torch.Tensor):
            return describe_tensor(value, prefix, counter)
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            fields = {name: describe(getattr(value, name), prefix, counter) for name in value._fields}
            return {"namedtuple": type(value).__name__, "fields": fields}
        if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [describe(item, prefix, counter) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[key if isinstance(key, (str, int)) else str(key), describe(item, prefix, counter)] for key, item in value.items()]}
        if hasattr(value, "__dict__") and not isinstance(value, (type, torch.nn.Module)) and not callable(value):
            fields = {name: describe(item, prefix, counter) for name, item in vars(value).items()}
            return {"object": type(value).__name__, "fields": fields}
        return {"py": repr(value), "type": type(value).__name__}

    def floats(value):
        if isinstance(value, torch.Tensor):
            if value.requires_grad and (value.is_floating_point() or value.is_complex()):
                yield value
        elif isinstance(value, dict):
            for item in value.values():
                yield from floats(item)
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from floats(item)

    def leaves(function, args, kwargs):
        if isinstance(function, torch.nn.Module):
            yield from function.named_parameters()
        pile = list(args) + list(kwargs.values())
        for number, value in enumerate(pile):
            if isinstance(value, torch.Tensor) and value.requires_grad and value.is_leaf:
                yield f"arg{number}", value

    def run_backward(result):
        total = None
        for value in floats(result):
            part = value.real.sum() if value.is_complex() else value.sum()
            total = part if total is None else total + part
        if total is not None:
            total.backward()

    def one(number, function, target, args, kwargs):
        answer = {}
        before = space.get("before")
        if before is not None:
            before(number, function)
        gradients = list(leaves(function, args, kwargs))
        for _, leaf in gradients:
            leaf.grad = None
        torch.manual_seed(100 + number)
        try:
            result = target(*args, **kwargs)
            answer["result"] = describe(result, f"c{number}.out", [0])
            if backward:
                run_backward(result)
                for name, leaf in gradients:
                    if leaf.grad is not None:
                        keep(f"c{number}.grad.{name}", leaf.grad)
        except Exception as error:
            answer["error"] = {"type": type(error).__name__, "message": str(error)}
            if type(error).__name__ != space.get("EXPECT_ERROR"):
                import traceback
                answer["trace"] = traceback.format_exc()
        describe([list(args), kwargs], f"c{number}.arg", [0])
        if isinstance(function, torch.nn.Module):
            for name, tensor in function.state_dict().items():
                if isinstance(tensor, torch.Tensor):
                    keep(f"c{number}.state.{name}", tensor)
        return answer

    torch.manual_seed(0)
    function, args = space["build"]()
    torch.manual_seed(1)
    later = list(space["calls"]()) if "calls" in space else []
    calls = [(tuple(args), {})]
    for call in later:
        with_keywords = len(call) == 2 and isinstance(call[0], tuple) and isinstance(call[1], dict)
        calls.append((call[0], call[1]) if with_keywords else (tuple(call), {}))
    target, log, first = function, "", 0
    if compiled:
        target = torch.compile(function, **{"backend": "eager", **space.get("KWARGS", {})})
    answers = []
    for number, call in enumerate(calls):
        answers.append(one(number, function, target, *call))
        if compiled:
            log = torch._C._dynamo.log()
            first = first if number else len(json.loads(log)["frames"])
    return [json.dumps(answers), names, tensors, log, first]
