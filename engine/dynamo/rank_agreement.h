// The compiler collective: before the first graph of a frame is compiled, the ranks of torch.distributed tell each other
// what they saw of its inputs and where they end it. They trace again with sizes and numbers that differ as symbols, and
// with the breaks of all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/distributed/agreement/break_agreement.h"
#include "engine/dynamo/frame_state.h"
#include "engine/dynamo/instruction_translator.h"
#include "engine/dynamo/written_code.h"

namespace kerf::inline dynamo {

/// One graph's agreement; a frame has its own.
class RankAgreement {
 public:
  enum class Next {
    Compile,  ///< ranks agree
    Trace,    ///< again, with `seen` and follow()
    Skip,     ///< the frame runs as it was written
    Failed    ///< a Python exception is set, which names the ranks that did not come
  };

  explicit RankAgreement(PyCodeObject* code);

  /// Whether the others are to be asked: the program wants it (torch._dynamo.config.enable_compiler_collectives) and has a process
  /// group of several ranks, they have not agreed yet, and this rank has something to compile, has asked before or goes on
  /// behind a break that all took.
  bool isNeeded(bool hasCalls) const;
  /// One all_gather_object: what `seen` holds and where this rank's graph ends (nowhere: whole). Then `seen` is what all ranks
  /// trace with.
  Next agree(FrameState& seen, const InstructionTranslator& frame);
  /// The same of a rank that compiles nothing of the frame. Others then do as well: Skip or Failed.
  Next agreeToSkip(FrameState& seen, const std::string& reason);

  /// Whether all ranks end their graph of this function with a break.
  bool isBreakOfAll() const { return m_isBreakOfAll; }
  /// The break of another rank that the next trace takes too.
  std::optional<FollowedBreak> follow(const Bytecode& bytecode) const;
  /// The last trace could not end where it was to.
  void leaveAsked() { m_isLeft = true; }
  /// What the ranks' skip comes from, for users.
  const std::string& skipReason() const { return m_skipReason; }

 private:
  Result<agreement::Decision> exchange(FrameState& seen, const agreement::GraphEnd& end);
  agreement::GraphEnd endOf(const InstructionTranslator& frame) const;

  WrittenCode m_code;
  std::string m_frame;
  int m_round = 0;
  bool m_hasAgreed = false;
  bool m_isLeft = false;
  bool m_isBreakOfAll = false;
  std::optional<agreement::GraphEnd> m_asked;
  int m_askedBy = -1;
  std::vector<agreement::GraphEnd> m_answered;
  std::string m_skipReason;
};

}  // namespace kerf::inline dynamo
