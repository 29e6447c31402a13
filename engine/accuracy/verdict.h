// What a comparison says of one result and of one node: the same rows in the engine, in answers, windows and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/fields.h"

namespace kerf::inline accuracy {

/// What a row of a comparison is about.
enum class ResultKind : unsigned char {
  Output,    ///< a value that the graph returns
  Mutation,  ///< an input or buffer that the run wrote into
  Alias,     ///< whose memory an output looks at
  Strides,   ///< how an output lies in memory
};
constexpr ResultKind lastOf(ResultKind) { return ResultKind::Strides; }
/// "output", "mutation", "alias", "strides".
std::string_view resultKindName(ResultKind kind);

/// Verdict and figures of one result.
struct OutputVerdict {
  std::string name;  ///< "out0", "out1.2" inside nested lists, "out0.logits" inside a dict; "mutates exp_avg_3"
  bool same = false;
  std::string reason;       ///< empty when same; else PyTorch's failure line or what differs ("dtype", "shape", …)
  double maxAbsError = 0;   ///< max |ref - res| over finite elements
  double rmseRes = 0;       ///< RMSE(fp64, res); NaN without fp64 reference
  double rmseRef = 0;       ///< RMSE(fp64, ref)
  double ratioToLimit = 0;  ///< error / accepted limit: above 1 fails; from rule 4 or 5b
  double multiplier = 0;    ///< m of rule 5b
  std::int64_t nanRef = 0, nanRes = 0, infRef = 0, infRes = 0;
  ResultKind kind = ResultKind::Output;
  std::int64_t elements = 0;  ///< of the reference's tensor
  std::int64_t finite = 0;    ///< of them finite on both sides: what was compared by size

  /// There were elements, and none of them says anything: NaN equals NaN, and so passes.
  bool nothingFinite() const { return elements > 0 && finite == 0; }

  KERF_FIELDS(name, same, reason, maxAbsError, ratioToLimit, rmseRes, rmseRef, multiplier, nanRef, nanRes, infRef,
              infRes, kind, elements, finite)
};

/// Divergence of one node between the compiled side and the interpreter, both measured against fp64.
struct NodeDivergence {
  std::string node;  ///< "add_3", or in a nested graph "while_body_0/add_3"
  std::string target;
  bool same = true;
  double rmseRes = 0, rmseRef = 0, ratioToLimit = 0, maxAbsError = 0;
  bool firstBad = false;  ///< no input of this node is bad: the fault starts here
  std::int64_t elements = 0;
  std::int64_t finite = 0;  ///< of them finite on both sides
  std::int64_t call = 0;    ///< in a nested graph: the call of it, from 1, in which the node was worst

  /// There were elements, and none of them says anything: NaN equals NaN, and so passes.
  bool nothingFinite() const { return elements > 0 && finite == 0; }

  KERF_FIELDS(node, target, same, firstBad, maxAbsError, ratioToLimit, rmseRes, rmseRef, elements, finite, call)
};

}  // namespace kerf::inline accuracy
