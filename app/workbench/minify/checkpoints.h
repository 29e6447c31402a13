// The folder that PyTorch's own minifier leaves behind, written by ours.
#pragma once

#include <filesystem>

#include "app/workbench/captures/graph_source.h"
#include "minifier/core/minify.h"

namespace kerf::workbench {

/// `folder`/minifier_launcher.py (the graph that the search began with), `folder`/checkpoints/<nodes>.py for every
/// accepted graph (minified_<nodes>_nodes.py for graphs of Dynamo), their data in `folder`/checkpoints/storages, and
/// the best one so far as `folder`/repro.py. All of them are repros that PyTorch runs in the folder they lie in, and
/// captures that Kerf opens. Nothing in them makes PyTorch dump again.
class Checkpoints {
 public:
  Checkpoints(std::filesystem::path folder, const GraphSource& like) : m_folder(std::move(folder)), m_like(like) {}

  /// Writes the graph of a step; step 0 is the launcher too. Errors: those of writing, and of what may not be exported.
  Result<void> accept(const MinifyStep& step, const Candidate& candidate);

 private:
  Result<void> copyOver(const std::filesystem::path& checkpoint, const std::string& name, std::string_view command);

  std::filesystem::path m_folder;
  const GraphSource& m_like;
};

}  // namespace kerf::workbench
