#include "engine/ops/distributed/rank_link.h"

namespace kerf::inline ops {
namespace {
thread_local RankLink* ownLink = nullptr;
}

RankLink* RankLink::current() { return ownLink; }

RankLink::Scope::Scope(RankLink& link) : m_before(ownLink) { ownLink = &link; }
RankLink::Scope::~Scope() { ownLink = m_before; }

}  // namespace kerf::inline ops
