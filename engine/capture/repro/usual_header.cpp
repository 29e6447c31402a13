#include "engine/capture/repro/usual_header.h"

#include <algorithm>
#include <sstream>

#include "engine/capture/audit/auditor.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view imports = R"(
import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
import torch._inductor.inductor_prims



import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
import torch.fx.experimental._config
)";
constexpr std::string_view miscellaneous = R"(


isolate_fails_code_str = None



)";
constexpr std::string_view modules = "from torch.nn import *\n";

/// Those that an export may have, judged behind the imports that they need.
std::vector<std::string> allowed(const std::vector<std::string>& lines, std::string_view before) {
  std::vector<std::string> kept;
  std::ranges::copy_if(lines, std::back_inserter(kept),
                       [&](const std::string& line) { return isAllowedBlock(fmt::format("{}\n{}\n", before, line)); });
  return kept;
}

/// "# torch version: 2.11.0", "# CUDA Info: ": what PyTorch says of the machine.
std::vector<std::string> versionComments(const ReproEnvelope& told) {
  const auto begin = std::ranges::find_if(
      told.headerLines, [](const std::string& line) { return line.starts_with("# torch version: "); });
  std::vector<std::string> lines;
  for (auto line = begin; line != told.headerLines.end() && (line->empty() || line->starts_with('#')); ++line)
    if (!line->empty()) lines.push_back(*line);
  return allowed(lines, "");
}

void append(std::vector<std::string>& lines, std::string_view text) {
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
}

}  // namespace

std::string usualHeader() { return fmt::format("{}{}{}", imports, miscellaneous, modules); }

ReproEnvelope environmentOf(const ReproEnvelope& told) {
  ReproEnvelope envelope;
  envelope.environmentLines = allowed(told.environmentLines, "import os");
  envelope.configLines = allowed(told.configLines, "import torch");
  const std::vector<std::string> versions = versionComments(told);
  envelope.torchVersion = told.torchVersion;
  envelope.cudaVersion = told.cudaVersion;
  envelope.gitVersion = told.gitVersion;
  std::vector<std::string>& lines = envelope.headerLines;
  if (envelope.environmentLines.empty() && envelope.configLines.empty() && versions.empty()) return envelope;
  if (!envelope.environmentLines.empty()) lines = {"", "import os"};
  lines.insert(lines.end(), envelope.environmentLines.begin(), envelope.environmentLines.end());
  append(lines, imports);
  lines.insert(lines.end(), envelope.configLines.begin(), envelope.configLines.end());
  append(lines, miscellaneous);
  lines.insert(lines.end(), versions.begin(), versions.end());
  append(lines, modules);
  return envelope;
}

}  // namespace kerf::inline capture
