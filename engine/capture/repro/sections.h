// ReproSections: which lines of a repro.py are header, classes, load_args and main (formats A.1).
#pragma once

#include <string>
#include <vector>

#include "engine/capture/common/source_text.h"

namespace kerf::inline capture {

/// A top-level `class Name(torch.nn.Module):`.
struct ClassSection {
  std::string name;
  LineRange all;
  LineRange init;     ///< `def __init__` with its body; empty if none
  LineRange forward;  ///< `def forward` with its body; empty if none
};

struct ReproSections {
  LineRange header;                  ///< everything before the model class
  std::vector<ClassSection> nested;  ///< classes of higher-order subgraphs
  ClassSection model;
  LineRange between;  ///< after the model class, before load_args
  LineRange loader;   ///< `def load_args(reader):` with its body; empty in files older than torch 2.1
  LineRange main;     ///< everything after load_args
  /// Where load_args comes before the classes, as a user may write it: what stands between them.
  LineRange behindLoader;
};

/// BadInput when there is no model class; NotFound-like cases of load_args are left to the caller (older files).
Result<ReproSections> findSections(const SourceText& source);

}  // namespace kerf::inline capture
