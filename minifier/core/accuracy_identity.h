// AccuracyIdentity: what is known of a wrong value, as a fingerprint, and what of it may change while a graph is cut.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/ir/graph_module.h"

namespace kerf::inline minifier::inline core {

/// The fingerprint of an accuracy failure, in parts.
///
///     accuracy:magnitude:aten.relu.default:10^3      →      {"magnitude", "aten.relu.default", 3}
struct AccuracyIdentity {
  std::string kind;           ///< "magnitude", "nan", "inf", "shape", "dtype", "alias", "strides", "mutation:nan" …
  std::string op;             ///< that makes the worst result; empty: not known
  std::optional<int> decade;  ///< power of ten of its error's ratio to the limit; none: not known, or no question

  /// None for fingerprints of other failures.
  static std::optional<AccuracyIdentity> parse(std::string_view fingerprint);
  std::string text() const;
  bool operator==(const AccuracyIdentity&) const = default;
};

/// A fingerprint without what differs between graphs that show one failure: the ratio of a wrong value.
std::string failureName(std::string_view fingerprint);
/// Without the op as well: all that a graph tells that was not cut down.
std::string failureKind(std::string_view fingerprint);
/// 3 of 1234; none of what is no positive number.
std::optional<int> decadeOf(double ratio);

/// "torch.ops.aten.relu.default" as fingerprints name it.
std::string_view opName(std::string_view target);

/// The failure that is wanted, and how it shows in the smallest graph that is known to fail so.
struct WantedFailure {
  std::string fingerprint;
  /// Names of ops of that graph from which its worst result does not come: what is wrong there is another failure, or
  /// another place where the same one shows.
  std::set<std::string, std::less<>> elsewhere;
  std::optional<int> first = {};  ///< decade of the start graph's; none: that of `fingerprint`
};

/// `elsewhere` is what the graph calls outside of all that leads to the results of the op that `fingerprint` names.
/// Empty for failures of other kinds, and where no op is named.
WantedFailure wantedIn(const GraphModule& module, std::string fingerprint, std::optional<int> first = {});

/// Powers of ten by which the ratio may be below the start graph's where the value is wrong at another op on the way: from
/// its source on an error is mostly lost in sums; what it gains is a factor of the graph's own, such as a loss scale of
/// 65536. It may rise: nearer to the source it does. Against the start, so that a chain of steps goes no further.
inline constexpr int mostFall = 5;
/// Either way from the one accepted last, where it is wrong at an op that is not on the way.
inline constexpr int mostAway = 1;

/// The kind is the same. So is the op, or none is known; or it is on the way, or new in the graph (a simpler one in the
/// place of another), and the ratio is not more than mostFall below the start graph's; or it is elsewhere, and the ratio
/// is within mostAway, too. Where no ratio is known, what is elsewhere is another failure. Another fault of the same kind
/// on the same way, as large, is not told apart.
bool isSameWrongValue(const AccuracyIdentity& found, const WantedFailure& wanted);

}  // namespace kerf::inline minifier::inline core
