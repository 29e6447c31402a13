// Which lines of the Python source the lines of Triton's intermediate texts come from.
//
//     %9 = arith.addf … loc(#loc5);  #loc5 = loc("k.py":12:8)      .loc 1 12 8 … .file 1 "k.py"      →      k.py:12
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline capture::trace {

struct SourceOfLine {
  int line = 0;    ///< of the text, from 1
  int file = 0;    ///< index into KernelSourceLines::files
  int source = 0;  ///< line of the file

  bool operator==(const SourceOfLine&) const = default;
};

/// Each file stands there once, however many lines come from it.
struct KernelSourceLines {
  std::vector<std::string> files;
  std::vector<SourceOfLine> lines;
};

/// A place says at most this: what is longer is no path of a system, and such lines are left out.
constexpr std::size_t mostPlaceBytes = 4096;

/// Of TTIR and TTGIR: what `loc(…)` at the end of a line names, through its aliases. Of a call that was inlined, the
/// place of the call. Lines that say nothing, or "unknown", are left out.
KernelSourceLines linesOfMlir(std::string_view text);
/// Of PTX (and AMDGCN): the `.loc` in front of an instruction, with the path of its `.file`; an empty path where the
/// text does not say it.
KernelSourceLines linesOfPtx(std::string_view text);

}  // namespace kerf::inline capture::trace
