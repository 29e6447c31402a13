#include "minifier/oracle/judging_environment.h"

#include <algorithm>

#include "engine/support/hash.h"
#include "minifier/core/repro_settings.h"

namespace kerf::inline minifier::inline oracle {

namespace {

constexpr std::string_view folders[] = {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TORCH_COMPILE_DEBUG_DIR",
                                        "TORCH_TRACE", "save_dir"};

bool matters(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos || line[begin] == '#') return false;
  return std::ranges::none_of(folders, [&](const auto folder) { return line.contains(folder); });
}

}  // namespace

std::string launcherIdentity(const Capture& like, std::size_t graphIndex) {
  const bool isOwn = graphIndex < like.graphs.size() && like.graphs[graphIndex].envelope;
  ReproEnvelope envelope = isOwn ? *like.graphs[graphIndex].envelope : like.envelope;
  stopDumping(envelope);
  std::string text = envelope.runner;
  for (const auto* lines : {&envelope.environmentLines, &envelope.configLines, &envelope.headerLines,
                            &envelope.betweenLines, &envelope.mainLines})
    for (const std::string& line : *lines)
      if (matters(line)) text += '\n' + line;
  for (const auto& [name, value] : envelope.runOptions)
    if (matters(name)) text += '\n' + name + '=' + value;
  return hashText(text).hex();
}

}  // namespace kerf::inline minifier::inline oracle
