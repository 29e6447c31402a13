"""Tensor-parallel styles: how a module's parameters are sharded, and what goes in and out."""

import torch
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor


class ParallelStyle:
    """What parallelize_module applies to a module."""

    src_data_rank = 0

    def _apply(self, module, device_mesh):
        raise NotImplementedError


def _one(value, fallback):
    return (fallback,) if value is None else value if isinstance(value, tuple) else (value,)


def _placed(value, mesh, layouts, desired):
    """A tensor of this rank as a DTensor under `layouts`, then under `desired`."""
    made = value if isinstance(value, DTensor) else DTensor.from_local(value, mesh, layouts, run_check=False)
    return _moved(made, desired)


def _moved(tensor, placements):
    """A DTensor under these placements; itself where it is."""
    same = [one._text(tensor.ndim) for one in placements] == [str(one) for one in tensor.placements]
    return tensor if same else tensor.redistribute(placements=placements)


class _LayerParallel(ParallelStyle):
    """Linear and Embedding by shards of their weights."""

    weights = {}  # by class: placements of weight and bias

    def __init__(self, input_layouts, desired, output_layouts, use_local_output):
        super().__init__()
        self.input_layouts = input_layouts
        self.desired_input_layouts = desired
        self.output_layouts = output_layouts
        self.use_local_output = use_local_output

    def _desired(self, module):
        return self.desired_input_layouts

    def _partition(self, name, module, mesh):
        for key, placement in self._weights_of(module).items():
            parameter = module._parameters.get(key)
            if parameter is None:
                continue
            made = distribute_tensor(parameter.data, mesh, [placement], src_data_rank=self.src_data_rank)
            module.register_parameter(key, torch.nn.Parameter(made, parameter.requires_grad))

    def _weights_of(self, module):
        for kind, placements in self.weights.items():
            if isinstance(module, kind):
                return placements
        raise NotImplementedError(f"{type(self).__name__} currently only support nn.Linear and nn.Embedding!")

    def _apply(self, module, device_mesh):
        desired = self._desired(module)

        def enter(mod, inputs, mesh):
            return (_placed(inputs[0], mesh, self.input_layouts, desired), *inputs[1:])

        def leave(mod, output, mesh):
            output = _moved(output, self.output_layouts)
            return output.to_local() if self.use_local_output else output

        return distribute_module(module, device_mesh, self._partition, enter, leave)


class ColwiseParallel(_LayerParallel):
    """Each rank computes some of the features."""

    weights = {
        torch.nn.Linear: {"weight": Shard(0), "bias": Shard(0)},
        torch.nn.Embedding: {"weight": Shard(1)},
    }

    def __init__(self, *, input_layouts=None, output_layouts=None, use_local_output=True):
        super().__init__(_one(input_layouts, Replicate()), (Replicate(),), _one(output_layouts, Shard(-1)), use_local_output)


class RowwiseParallel(_LayerParallel):
    """Each rank computes a part of the sum that a feature is."""

    weights = {
        torch.nn.Linear: {"weight": Shard(1), "bias": Replicate()},
        torch.nn.Embedding: {"weight": Shard(0)},
    }

    def __init__(self, *, input_layouts=None, output_layouts=None, use_local_output=True):
        super().__init__(_one(input_layouts, Shard(-1)), None, _one(output_layouts, Replicate()), use_local_output)

    def _desired(self, module):
        return (Replicate(),) if isinstance(module, torch.nn.Embedding) else (Shard(-1),)


class SequenceParallel(ParallelStyle):
    """Parameters are replicated, the input is sharded along the sequence."""

    def __init__(self, *, sequence_dim=1, use_local_output=False):
        super().__init__()
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    def _partition(self, name, module, mesh):
        for key, parameter in list(module._parameters.items()):
            if parameter is None:
                continue
            made = DTensor.from_local(parameter.data, mesh, [Replicate()], run_check=False)
            module.register_parameter(key, torch.nn.Parameter(made, parameter.requires_grad))

    def _apply(self, module, device_mesh):
        def enter(mod, inputs, mesh):
            return (_placed(inputs[0], mesh, self.sequence_sharding, self.sequence_sharding), *inputs[1:])

        def leave(mod, output, mesh):
            return output.to_local() if self.use_local_output else output

        return distribute_module(module, device_mesh, self._partition, enter, leave)


def _same_length(values, layouts, what):
    if len(values) != len(layouts):
        raise ValueError(f"module {what}s and {what}_layouts should have same length!")


def _prepared(value, mesh, layout, desired, as_local):
    """One input or output: None stays as it is."""
    if layout is None:
        return value
    made = _placed(value, mesh, (layout,), (layout,) if desired is None else (desired,))
    return made.to_local() if as_local else made


class PrepareModuleInput(ParallelStyle):
    """Inputs become DTensors, under the placements that the module wants."""

    def __init__(self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None,
                 desired_input_kwarg_layouts=None, use_local_output=False):
        super().__init__()
        single = lambda value: value if value is None or isinstance(value, tuple) else (value,)  # noqa: E731
        self.input_layouts = single(input_layouts)
        self.desired_input_layouts = single(desired_input_layouts)
        self.use_local_output = use_local_output
        if self.input_layouts is not None:
            if self.desired_input_layouts is None:
                raise AssertionError("desired module inputs should not be None!")
            _same_length(self.input_layouts, self.desired_input_layouts, "desired_input")
        self.input_kwarg_layouts = input_kwarg_layouts or {}
        self.desired_input_kwarg_layouts = desired_input_kwarg_layouts or {}
        if self.input_kwarg_layouts.keys() != self.desired_input_kwarg_layouts.keys():
            raise AssertionError("input_kwarg_layouts and desired_input_kwarg_layouts name the same arguments")

    def _inputs(self, inputs, mesh):
        if self.input_layouts is None:
            return inputs
        given = inputs if isinstance(inputs, tuple) else (inputs,)
        _same_length(given, self.input_layouts, "input")
        return tuple(_prepared(value, mesh, layout, desired, self.use_local_output)
                     for value, layout, desired in zip(given, self.input_layouts, self.desired_input_layouts))

    def _named(self, kwargs, mesh):
        return {key: _prepared(value, mesh, self.input_kwarg_layouts.get(key), self.desired_input_kwarg_layouts.get(key),
                               self.use_local_output) for key, value in kwargs.items()}

    def _apply(self, module, device_mesh):
        module.register_forward_pre_hook(
            lambda mod, inputs, kwargs: (self._inputs(inputs, device_mesh), self._named(kwargs, device_mesh)),
            with_kwargs=True)
        return module


class PrepareModuleOutput(ParallelStyle):
    """Outputs become DTensors, under the placements that follow."""

    def __init__(self, *, output_layouts, desired_output_layouts, use_local_output=True):
        super().__init__()
        self.output_layouts = output_layouts if isinstance(output_layouts, tuple) else (output_layouts,)
        self.desired_output_layouts = (desired_output_layouts if isinstance(desired_output_layouts, tuple)
                                       else (desired_output_layouts,))
        self.use_local_output = use_local_output
        _same_length(self.output_layouts, self.desired_output_layouts, "desired_output")

    def _outputs(self, outputs, mesh):
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        _same_length(given, self.output_layouts, "output")
        made = tuple(_prepared(value, mesh, layout, desired, self.use_local_output)
                     for value, layout, desired in zip(given, self.output_layouts, self.desired_output_layouts))
        return made if isinstance(outputs, tuple) else made[0]

    def _apply(self, module, device_mesh):
        module.register_forward_hook(lambda mod, inputs, outputs: self._outputs(outputs, device_mesh))
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """Both."""

    def __init__(self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None,
                 desired_input_kwarg_layouts=None, use_local_input=False, output_layouts, desired_output_layouts,
                 use_local_output=True):
        super().__init__()
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts, desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts, desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input)
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts, desired_output_layouts=desired_output_layouts, use_local_output=use_local_output)

    def _apply(self, module, device_mesh):
        self.prepare_module_input._apply(module, device_mesh)
        self.prepare_module_output._apply(module, device_mesh)
        return module
