"""ZeroRedundancyOptimizer: each rank changes some of the parameters, and tells the others."""

from torch.distributed import distributed_c10d as c10d
from torch.optim import Optimizer


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer of which each rank has the state for its share of the parameters: the largest go to whoever has least."""

    def __init__(self, params, optimizer_class, process_group=None, parameters_as_bucket_view=False, overlap_with_ddp=False,
                 **defaults):
        if overlap_with_ddp:
            raise NotImplementedError("overlap_with_ddp is not part of this torch")
        super().__init__(params, defaults)
        self.process_group = c10d._of(process_group)
        self._owner = self._shared_out()
        self.optim = optimizer_class(self._own_groups(), **defaults)

    def _shared_out(self):
        """The rank of the group that changes a parameter."""
        filled, owner = [0] * self.process_group.size(), {}
        everything = [parameter for group in self.param_groups for parameter in group["params"]]
        for parameter in sorted(everything, key=lambda one: one.numel(), reverse=True):
            rank = filled.index(min(filled))
            owner[parameter] = rank
            filled[rank] += parameter.numel()
        return owner

    def _own_groups(self):
        mine = self.process_group.rank()
        return [{**group, "params": [one for one in group["params"] if self._owner[one] == mine]}
                for group in self.param_groups]

    def _options_to_own(self):
        for group, own in zip(self.param_groups, self.optim.param_groups):
            own.update({key: value for key, value in group.items() if key != "params"})

    def step(self, closure=None, **kwargs):
        """Change this rank's parameters, then get those of the others."""
        self._options_to_own()
        loss = self.optim.step(closure, **kwargs) if closure is not None else self.optim.step(**kwargs)
        for parameter, rank in self._owner.items():
            c10d.broadcast(parameter, group=self.process_group, group_src=rank)
        return loss

    def add_param_group(self, param_group):
        """More parameters; only before the first share is made."""
        if hasattr(self, "optim"):
            raise NotImplementedError("parameters that come later are not part of this torch")
        super().add_param_group(param_group)

    def consolidate_state_dict(self, to=0):
        """The states of all ranks, on one rank."""
        places = {id(one): at for at, one in enumerate(p for group in self.param_groups for p in group["params"])}
        mine = {places[id(parameter)]: state for parameter, state in self.optim.state.items()}
        seen = [None] * self.process_group.size()
        c10d.all_gather_object(seen, mine, group=self.process_group)
        self._whole = dict(sorted(item for one in seen for item in one.items())) if self.process_group.rank() == to else None

    def state_dict(self):
        """Of all ranks, where consolidate_state_dict() brought them."""
        if getattr(self, "_whole", None) is None:
            raise RuntimeError(f"Optimizer state has not been consolidated on this rank. Please call "
                               f"`consolidate_state_dict(to={self.process_group.rank()})` on all ranks beforehand if you meant "
                               "to save the global state.")
        groups, at = [], 0
        for group in self.param_groups:
            count = len(group["params"])
            groups.append({**{key: value for key, value in group.items() if key != "params"},
                           "params": list(range(at, at + count))})
            at += count
        return {"state": self._whole, "param_groups": groups}
