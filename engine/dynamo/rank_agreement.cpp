#include "engine/dynamo/rank_agreement.h"

#include <vector>

#include <fmt/format.h>

#include "engine/dynamo/bytecode.h"
#include "engine/dynamo/settings.h"
#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {
namespace {

/// torch.distributed, where the program has imported it. Borrowed.
PyObject* distributedOfProgram() {
  return PyDict_GetItemString(PyImport_GetModuleDict(), "torch.distributed.distributed_c10d");
}

/// The texts of all ranks, by rank.
Result<std::vector<std::string>> textsOfRanks(const std::string& own) {
  const Ref list =
      Ref::steal(PyObject_CallMethod(distributedOfProgram(), "_compiler_states", "O", makeText(own).get()));
  if (!list) return fail(pendingError());
  const Ref items = Ref::steal(PySequence_Fast(list.get(), "states of ranks are a list"));
  if (!items) return fail(pendingError());
  std::vector<std::string> texts;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
    texts.push_back(textOf(PySequence_Fast_GET_ITEM(items.get(), i)));
  return texts;
}

Result<std::vector<agreement::FrameClaim>> claimsOfRanks(const std::string& own) {
  KERF_TRY(const std::vector<std::string> texts, textsOfRanks(own));
  std::vector<agreement::FrameClaim> claims;
  for (const std::string& text : texts) {
    KERF_TRY(agreement::FrameClaim claim, agreement::parseClaim(text));
    claims.push_back(std::move(claim));
  }
  return claims;
}

int ownRank() {
  const Ref number = Ref::steal(PyObject_CallMethod(distributedOfProgram(), "get_rank", nullptr));
  PyErr_Clear();
  return number ? int(PyLong_AsLong(number.get())) : -1;
}

bool programAgrees() {
  PyObject* const module = distributedOfProgram();
  if (module == nullptr || dynamoSetting("enable_compiler_collectives", 0) == 0) return false;
  const NativeScope native;
  const Ref several = Ref::steal(PyObject_CallMethod(module, "_has_several_ranks", nullptr));
  PyErr_Clear();
  return several.get() == Py_True;
}

/// What is reached from `start` without going through `avoided`; exceptions are no ways.
std::vector<bool> reachedWithout(const Bytecode& bytecode, int start, int avoided) {
  const auto count = static_cast<int>(bytecode.instructions.size());
  std::vector<bool> seen(bytecode.instructions.size());
  std::vector<int> open{start};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (at < 0 || at >= count || at == avoided || seen[static_cast<std::size_t>(at)]) continue;
    seen[static_cast<std::size_t>(at)] = true;
    const Instruction& instruction = bytecode.instructions[static_cast<std::size_t>(at)];
    if (instruction.target >= 0) open.push_back(instruction.target);
    if (!endsBlock(instruction.op)) open.push_back(at + 1);
  }
  return seen;
}

bool returns(const Bytecode& bytecode, const std::vector<bool>& seen) {
  for (std::size_t k = 0; k < seen.size(); ++k)
    if (seen[k] && bytecode.instructions[k].op == Op::RETURN_VALUE) return true;
  return false;
}

/// The instructions that every way from `start` to a return goes through, without the return itself. None where a way leads
/// back: a graph does not end in a loop.
std::vector<bool> joinsBehind(const Bytecode& bytecode, int start) {
  constexpr std::size_t longest = 4000;
  std::vector<bool> joins(bytecode.instructions.size());
  if (joins.size() > longest) return joins;
  const std::vector<bool> behind = reachedWithout(bytecode, start, -1);
  if (!returns(bytecode, behind)) return joins;
  for (std::size_t k = 0; k < joins.size(); ++k) {
    const int at = static_cast<int>(k);
    joins[k] = behind[k] && at != start && bytecode.instructions[k].op != Op::RETURN_VALUE &&
               !mayHaveBackedge(bytecode, at) && !returns(bytecode, reachedWithout(bytecode, start, at));
  }
  return joins;
}

Unsupported breakOfRank(const agreement::GraphEnd& end, int rank) {
  return {
      "Graph break of another rank",
      fmt::format("Rank {} ends its graph of this function here ({}), and ranks with compiler collectives end theirs "
                  "together.",
                  rank, end.reason),
      {},
      {"Let all ranks take the same way, or leave what only one rank does out of the compiled function."},
      {},
      false,
      {}};
}

RankAgreement::Next failed(const Error& error) {
  raise(error);
  return RankAgreement::Next::Failed;
}

}  // namespace

RankAgreement::RankAgreement(PyCodeObject* code) : m_code(writtenCode(code)) {
  m_frame = fmt::format("{} at {}:{}, {} instructions", textOf(m_code.code->co_name), textOf(m_code.code->co_filename),
                        m_code.code->co_firstlineno, decode(m_code.code).instructions.size());
}

bool RankAgreement::isNeeded(bool hasCalls) const {
  return !m_hasAgreed && (hasCalls || m_round > 0 || m_code.isAgreed) && programAgrees();
}

agreement::GraphEnd RankAgreement::endOf(const InstructionTranslator& frame) const {
  if (!frame.breakAt) return {};
  const BreakPoint& at = *frame.breakAt;
  return {.kind = agreement::GraphEnd::Kind::Break,
          .instruction = frame.current() - m_code.shift,
          .visit = frame.visits(frame.current()),
          .step = at.step,
          .leavesFrame = at.leavesFrame,
          .isBefore = at.isBefore,
          .reason = fmt::format("{}: {}", frame.where(), at.reason.type)};
}

Result<agreement::Decision> RankAgreement::exchange(FrameState& seen, const agreement::GraphEnd& end) {
  if (m_asked) m_answered.push_back(*m_asked);
  const NativeScope native;
  KERF_TRY(const auto claims, claimsOfRanks(agreement::claimText({m_frame, m_round, end, m_answered, seen.told()})));
  const int rank = ownRank();
  if (rank < 0 || std::size_t(rank) >= claims.size())
    return fail(ErrorCode::RuntimeFailed, "the process group has {} ranks, and this one is none of them",
                claims.size());
  agreement::Decision decision = agreement::decideEnd(claims, rank);
  seen.follow(decision.state);
  ++m_round;
  m_hasAgreed = decision.isSettled;
  m_isBreakOfAll = decision.isBreakOfAll;
  m_isLeft = decision.end && end.isAt(*decision.end);
  m_asked = decision.end;
  m_askedBy = decision.rank;
  return decision;
}

RankAgreement::Next RankAgreement::agree(FrameState& seen, const InstructionTranslator& frame) {
  const auto decision = exchange(seen, endOf(frame));
  if (!decision) return failed(decision.error());
  if (decision->end && decision->end->kind == agreement::GraphEnd::Kind::Skip)
    return agreeToSkip(seen, fmt::format("rank {} compiles nothing of it ({})", decision->rank, decision->end->reason));
  return decision->isSettled ? Next::Compile : Next::Trace;
}

RankAgreement::Next RankAgreement::agreeToSkip(FrameState& seen, const std::string& reason) {
  m_skipReason = reason;
  while (!m_hasAgreed) {
    const auto decision = exchange(seen, {.kind = agreement::GraphEnd::Kind::Skip, .reason = reason});
    if (!decision) return failed(decision.error());
  }
  return Next::Skip;
}

std::optional<FollowedBreak> RankAgreement::follow(const Bytecode& bytecode) const {
  if (!m_asked || m_isLeft || m_asked->kind != agreement::GraphEnd::Kind::Break) return std::nullopt;
  FollowedBreak result{.visit = m_asked->visit,
                       .leavesFrame = m_asked->leavesFrame,
                       .isBefore = m_asked->isBefore,
                       .reason = breakOfRank(*m_asked, m_askedBy)};
  const int at = m_asked->instruction + m_code.shift;
  result.joins.resize(bytecode.instructions.size());
  if (at < 0 || std::size_t(at) >= bytecode.instructions.size()) return result;
  result.joins = joinsBehind(bytecode, at);
  if (m_asked->leavesFrame || !mayHaveBackedge(bytecode, at)) result.instruction = at;
  return result;
}

}  // namespace kerf::inline dynamo
