#include "engine/ops/higher_order/loop_limit.h"

#include "engine/ops/higher_order/higher_order.h"

namespace kerf::inline ops {
namespace {

thread_local std::int64_t limitOfThread = maximumIterations;

}  // namespace

std::int64_t loopLimit() { return limitOfThread; }

LoopLimit::LoopLimit(std::int64_t iterations) : m_before(limitOfThread) { limitOfThread = iterations; }
LoopLimit::~LoopLimit() { limitOfThread = m_before; }

}  // namespace kerf::inline ops
