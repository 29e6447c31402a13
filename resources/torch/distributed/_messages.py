"""Messages from one rank to another."""

import collections

from torch._C import _distributed_c10d as _link
from torch.distributed._collectives import _check_tensor, _fits, _write
from torch.distributed._groups import _of, _outside, _rank_in, get_global_rank
from torch.distributed._types import Backend
from torch.distributed._work import Work


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """A tensor to one rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return
    own = _of(group)
    target = _rank_in(own, dst, group_dst, "dst")
    if target == own.rank():
        raise ValueError("Invalid destination rank: destination rank should not be the same as the rank of the current process.")
    _link._send(own.group_name, target, tag, tensor.detach())


_posted = collections.defaultdict(collections.deque)  # receives that wait, by group, source in it, and tag


def _forget(group_name):
    """Receives of a group that is gone; None: of all."""
    for key in [key for key in _posted if group_name in (None, key[0])]:
        del _posted[key]


class _Receive(Work):
    """A message that is waited for. The messages of one rank with one tag go to its receives in the order in which these
    were posted, whichever is waited for first."""

    def __init__(self, tensor, group, source, tag):
        super().__init__(result=[tensor])
        self._tensor, self._group, self._source, self._tag = tensor, group, source, tag
        self._is_done, self._error = group.name() == Backend.FAKE, None  # whose ranks send nothing: the tensor stays
        if source is not None and not self._is_done:
            self._queue().append(self)

    def _queue(self):
        return _posted[self._group.group_name, self._source, self._tag]

    def _take(self, value, source):
        self._source, self._is_done = source, True
        sender = f" from rank {self._group._ranks[source]}"
        try:
            _fits(self._tensor, value.dtype, "recv" + sender)
            _write(self._tensor, value, "recv" + sender)
        except ValueError as error:
            self._error = error

    def wait(self, timeout=None):
        """True when the message is there."""
        while not self._is_done:
            if self._source is None:
                source, value = _link._recv_any(self._group.group_name, self._tag)
                self._deliver(value, source)
            else:
                value = _link._recv(self._group.group_name, self._source, self._tag)
                self._queue().popleft()._take(value, self._source)
        if self._error is not None:
            raise self._error
        return True

    def _deliver(self, value, source):
        """To who has asked for that rank's next message, or to this receive."""
        queue = _posted[self._group.group_name, source, self._tag]
        (queue.popleft() if queue else self)._take(value, source)

    def is_completed(self):
        """Whether the message is there; takes what has come meanwhile."""
        sources = [self._source] if self._source is not None else [
            one for one in range(self._group.size()) if one != self._group.rank()]
        for source in sources:
            while not self._is_done:
                value = _link._recv_arrived(self._group.group_name, source, self._tag)
                if value is None:
                    break
                self._deliver(value, source)
        return self._is_done

    def is_success(self):
        return self._is_done and self._error is None

    def exception(self):
        return self._error

    def get_future(self):
        self.wait()
        return super().get_future()

    def _source_rank(self):
        return self._group._ranks[self._source or 0]


def _next_message(group, source, tag):
    """The first message that no receive has been posted for."""
    queue = _posted[group.group_name, source, tag]
    while queue:
        queue.popleft()._take(_link._recv(group.group_name, source, tag), source)
    return _link._recv(group.group_name, source, tag)


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """recv() when it is waited for; without a source the first message of any rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    own = _of(group)
    source = None if src is None and group_src is None else _rank_in(own, src, group_src, "src")
    if source == own.rank():
        raise ValueError("Invalid source rank: source rank should not be the same as the rank of the current process.")
    return _Receive(tensor, own, source, tag)


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """A tensor of one rank; without a source of the first of which one has come. Gives the source."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work._source_rank()


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """send(); the values are those of now."""
    if _outside(group):
        return None
    send(tensor, dst, group, tag, group_dst)
    return Work()


class P2POp:
    """One isend or irecv of batch_isend_irecv."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                             "``torch.distributed.irecv``.")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        self.peer = peer if peer is not None else get_global_rank(group, group_peer)


def batch_isend_irecv(p2p_op_list):
    """Sends first; what is received comes when it is waited for."""
    works = {}
    for wanted in (isend, irecv):
        for place, one in enumerate(p2p_op_list):
            if one.op is wanted:
                works[place] = one.op(one.tensor, one.peer, group=one.group, tag=one.tag)
    return [works[place] for place in range(len(p2p_op_list))]
