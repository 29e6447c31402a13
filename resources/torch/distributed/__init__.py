"""torch.distributed: ranks that talk to each other. A program runs as one rank, or as several at once."""

import importlib

from torch import _C


def is_available():
    """Whether programs may have ranks."""
    return hasattr(_C, "_distributed_c10d")


if not is_available():

    def is_initialized():
        """Always False."""
        return False

else:
    from torch.distributed.distributed_c10d import (  # noqa: F401
        _abort_process_group, _all_gather_base, _coalescing_manager, _get_default_group, _get_pg_default_device,
        _reduce_scatter_base, _resolve_process_group, _set_pg_timeout, all_gather, all_gather_coalesced,
        all_gather_into_tensor, all_gather_object, all_reduce, all_reduce_coalesced, all_to_all, all_to_all_single,
        AllreduceCoalescedOptions, AllreduceOptions, AllToAllOptions, Backend, BackendConfig, barrier, BarrierOptions,
        batch_isend_irecv, broadcast, broadcast_object_list, BroadcastOptions, DebugLevel, default_pg_timeout,
        destroy_process_group, DistBackendError, DistError, DistNetworkError, DistStoreError, gather, gather_object,
        GatherOptions, get_backend, get_backend_config, get_debug_level, get_default_backend_for_device,
        get_global_rank, get_group_rank, get_node_local_rank, get_pg_count, get_process_group_ranks, get_rank,
        get_world_size, GradBucket, group, GroupMember, init_process_group, irecv, is_backend_available,
        is_gloo_available, is_initialized, is_mpi_available, is_nccl_available, is_torchelastic_launched,
        is_ucc_available, is_xccl_available, isend, monitored_barrier, new_group, new_subgroups,
        new_subgroups_by_enumeration, P2POp, ProcessGroup, QueueEmptyError, recv, recv_object_list, reduce, reduce_op,
        reduce_scatter, reduce_scatter_tensor, ReduceOp, ReduceOptions, ReduceScatterOptions, scatter,
        scatter_object_list, ScatterOptions, send, send_object_list, set_debug_level, set_debug_level_from_env,
        split_group, supports_complex, Work,
    )
    from torch.distributed.device_mesh import DeviceMesh, init_device_mesh  # noqa: F401

_WHEN_USED = ("_composable", "_functional_collectives", "_tensor", "algorithms", "elastic", "fsdp", "nn", "optim", "tensor")


def __getattr__(name):
    if name in _WHEN_USED:
        return importlib.import_module("torch.distributed." + name)
    from torch._absent import message

    raise AttributeError(message("torch.distributed", name))
