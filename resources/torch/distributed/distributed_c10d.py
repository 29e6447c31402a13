"""Process groups and the collectives of torch.distributed, under the names that PyTorch has them in this module.

A program of several ranks runs once for each of them; what the ranks say to each other goes through
torch._C._distributed_c10d. A program that runs once is the only rank of its world.
"""

from torch.distributed._types import (  # noqa: F401
    _op_name, AllreduceCoalescedOptions, AllreduceOptions, AllToAllOptions, Backend, BackendConfig, BarrierOptions,
    BroadcastOptions, DebugLevel, default_pg_timeout, DistBackendError, DistError, DistNetworkError, DistStoreError,
    GatherOptions, get_debug_level, get_default_backend_for_device, is_backend_available, is_gloo_available,
    is_mpi_available, is_nccl_available, is_ucc_available, is_xccl_available, QueueEmptyError, reduce_op, ReduceOp,
    ReduceOptions, ReduceScatterOptions, ScatterOptions, set_debug_level, set_debug_level_from_env, supports_complex,
)
from torch.distributed._groups import (  # noqa: F401
    _abort_process_group, _get_default_group, _get_pg_default_device, _has_several_ranks, _of, _outside, _rank_in,
    _resolve_process_group, _set_pg_timeout, _world, destroy_process_group, get_backend, get_backend_config,
    get_global_rank, get_group_rank, get_node_local_rank, get_pg_count, get_process_group_ranks, get_rank,
    get_world_size, group, GroupMember, init_process_group, is_initialized, is_torchelastic_launched, new_group,
    new_subgroups, new_subgroups_by_enumeration, ProcessGroup, split_group,
)
from torch.distributed._work import (  # noqa: F401
    _done, _Future, GradBucket, Work,
)
from torch.distributed._collectives import (  # noqa: F401
    _all_gather_base, _check_tensor, _coalescing_manager, _reduce_scatter_base, _write, all_gather,
    all_gather_coalesced, all_gather_into_tensor, all_reduce, all_reduce_coalesced, all_to_all, all_to_all_single,
    barrier, broadcast, gather, monitored_barrier, reduce, reduce_scatter, reduce_scatter_tensor, scatter,
)
from torch.distributed._messages import (  # noqa: F401
    batch_isend_irecv, irecv, isend, P2POp, recv, send,
)
from torch.distributed._objects import (  # noqa: F401
    _compiler_states, all_gather_object, broadcast_object_list, gather_object, recv_object_list, scatter_object_list,
    send_object_list,
)
