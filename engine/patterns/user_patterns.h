// Patterns of the user: a text file with two graphs each, what to look for and what to put in its place.
//
//     pattern double: x + x as 2x
//     search
//     def forward(self, x):
//         add = torch.ops.aten.add.Tensor(x, x)
//         return add
//     replace
//     def forward(self, x):
//         mul = torch.ops.aten.mul.Tensor(x, 2.0)
//         return mul
//
// Graphs are Python as print_readable writes it, or the text of print(graph). An argument stands for any value, also a
// number, a size in a list or a whole list; everything else must be equal. Lines that begin with # before a "pattern"
// are comments.
#pragma once

#include <string>
#include <string_view>

#include "engine/passes/pass.h"
#include "engine/patterns/pattern_matcher_pass.h"

namespace kerf::inline patterns {

/// BadInput, with the line, for a text that is not as above, for a name that is there twice, and for a replacement with
/// an argument that its search graph lacks or another number of results.
Result<PatternMatcherPass> userMatcher(std::string_view text);

struct PatternFileContent {
  PatternMatcherPass matcher;
  std::string digest;  ///< tells results of this text from those of others
};
/// The same of a file; NotFound where it cannot be read.
Result<PatternFileContent> readPatternFile(const std::string& path);

/// Joint stage, by the option `file`; without one it does nothing.
Pass userPatternsPass();

}  // namespace kerf::inline patterns
