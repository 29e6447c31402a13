// spliceReplacement: a traced replacement in the place of a match.
//
//     div = div(bmm, 8); …; bmm_1 = bmm(softmax, v)      →      getitem = _scaled_dot_product_…(q, k, v)[0]
#pragma once

#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/patterns/pattern_match.h"
#include "engine/support/result.h"

namespace kerf::inline patterns {

/// Puts copies of `replacement`'s calls before the first result of `match`, lets the users of each result use the new
/// one, and erases what nobody uses then. Placeholders of `replacement` are the match's keyword arguments by name. A
/// result whose layout was row-major stays so (by a clone), as views behind it may rely on it. Gives the new nodes.
/// BadInput where a result in use has no replacement, or one of another dtype or other sizes, and where no order of
/// calls would be left.
Result<std::vector<NodeId>> spliceReplacement(GraphModule& module, const MatchedPattern& match,
                                              const GraphModule& replacement);

/// What spliceReplacement would refuse, without doing it.
Result<void> checkReplacement(GraphModule& module, const MatchedPattern& match, const GraphModule& replacement);

}  // namespace kerf::inline patterns
