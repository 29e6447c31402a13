#include "engine/capture/audit/audit_header.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kerf::inline capture {
namespace {

struct Import {
  std::string_view line, names;
};
constexpr std::array<Import, 38> imports = {
    {{"import torch", "torch"},
     {"import os", "os"},
     {"import math", "math"},
     {"import operator", "operator"},
     {"import operator as _operator", "_operator"},
     {"import torch.fx as fx", "fx"},
     {"import torch.fx._pytree as fx_pytree", "fx_pytree"},
     {"import torch.utils._pytree as pytree", "pytree"},
     {"import torch.utils._pytree as torch_utils__pytree", "torch_utils__pytree"},
     {"import torch.nn", "torch"},
     {"import torch.nn.functional", "torch"},
     {"import torch.nn.functional as F", "F"},
     {"import torch._dynamo", "torch"},
     {"import torch._inductor", "torch"},
     {"import torch._dynamo.config", "torch"},
     {"import torch._inductor.config", "torch"},
     {"import torch._functorch.config", "torch"},
     {"import torch.fx.experimental._config", "torch"},
     {"import torch._inductor.inductor_prims", "torch"},
     {"import torch._inductor.inductor_prims as inductor_prims", "inductor_prims"},
     {"import torch._higher_order_ops.triton_kernel_wrap", "torch"},
     {"import triton", "triton"},
     {"import triton.language as tl", "tl"},
     {"from torch import tensor, device", "tensor device"},
     {"from torch import device, tensor", "tensor device"},
     {"from torch import device", "device"},
     {"from torch import tensor", "tensor"},
     {"from torch import inf", "inf"},
     {"from torch import nan", "nan"},
     {"from torch import inf, nan", "inf nan"},
     {"from torch.nn import *", ""},
     {"from torch._dynamo.testing import rand_strided", "rand_strided"},
     {"from math import inf", "inf"},
     {"from math import nan", "nan"},
     {"from math import inf, nan", "inf nan"},
     {"from torch._dynamo.debug_utils import run_fwd_maybe_bwd", ""},
     {"from torch._dynamo.repro.after_aot import run_repro", "run_repro"},
     {"from torch._dynamo.repro.after_dynamo import run_repro", "run_repro"}}};

constexpr std::array<std::string_view, 7> configModules = {
    "torch._dynamo.config.",  "torch._inductor.config.", "torch._functorch.config.", "torch.fx.experimental._config.",
    "torch.compiler.config.", "torch.fx.config.",        "torch._export.config."};

/// Words in the names of options that name a program, a file or folder that is read or written, or code that is run.
constexpr std::array<std::string_view, 34> dangerousWords = {
    "file",     "output",  "_out",    "dump",    "trace",  "home",   "profile", "shell",  "cxx",
    "compiler", "command", "cmd",     "dir",     "path",   "cache",  "hook",    "custom", "script",
    "plugin",   "lib",     "include", "program", "remote", "url",    "pickle",  "import", "exec",
    "gcc",      "nvcc",    "clang",   "ldflags", "cflags", "prefix", "root"};

bool hasDangerousWord(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return std::ranges::any_of(dangerousWords,
                             [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool isPlainWord(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-.,:+= ").find(char(c)) != std::string_view::npos;
  });
}

/// What PyTorch 2.11 writes so that tracebacks show the source of a repro that was read from a string.
constexpr std::string_view sourceBlock =
    "if \"__compile_source__\" in globals():\n"
    "    import inspect as __after_aot_inspect\n"
    "    import linecache as __after_aot_linecache\n"
    "    __after_aot_filename = __after_aot_inspect.currentframe().f_code.co_filename\n"
    "    __after_aot_linecache.cache[__after_aot_filename] = (\n"
    "        len(__compile_source__),\n"
    "        None,\n"
    "        __compile_source__.splitlines(True),\n"
    "        __after_aot_filename,\n"
    "    )\n";
constexpr std::string_view resetLine = "torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()\n";

void blankOut(std::string& text, std::string_view known) {
  for (std::size_t at = text.find(known); at != std::string::npos; at = text.find(known, at + known.size())) {
    if (at != 0 && text[at - 1] != '\n') continue;
    for (std::size_t i = at; i < at + known.size(); ++i)
      if (text[i] != '\n') text[i] = ' ';
  }
}

}  // namespace

bool isAllowedImport(std::string_view line) { return std::ranges::find(imports, line, &Import::line) != imports.end(); }

std::string importedNames(std::string_view line) {
  const auto found = std::ranges::find(imports, line, &Import::line);
  return found == imports.end() ? std::string() : std::string(found->names);
}

bool isAllowedConfig(std::string_view path, std::string_view literal) {
  const auto module =
      std::ranges::find_if(configModules, [&](std::string_view name) { return path.starts_with(name); });
  if (module == configModules.end()) return false;
  const bool hasText = literal.find_first_of("'\"") != std::string_view::npos;
  if (path.find("__") != std::string_view::npos) return false;
  if (!hasText) return true;  // numbers, True, None and tuples of them name nothing
  std::string inner(literal);
  std::erase_if(inner, [](char c) { return std::string_view("'\"()[]{}").find(c) != std::string_view::npos; });
  return isPlainWord(inner) && !hasDangerousWord(path.substr(module->size()));
}

bool isAllowedEnvironment(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 5> prefixes = {"TORCH", "_TORCH", "PYTORCH", "CUDA_VISIBLE", "TRITON_"};
  constexpr std::string_view defaultCache = "/tmp/torchinductor_";  // what PyTorch itself takes
  if (name == "TORCHINDUCTOR_CACHE_DIR" && value.starts_with(defaultCache))
    return isPlainWord(value.substr(defaultCache.size())) && value.find("..") == std::string_view::npos;
  const bool isKnown = std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
  if (!isKnown || !isPlainWord(value) || value.find("..") != std::string_view::npos) return false;
  if (name == "TORCHINDUCTOR_FORCE_DISABLE_CACHES" || name == "TORCHINDUCTOR_FX_GRAPH_CACHE" ||
      name == "TORCHINDUCTOR_AUTOGRAD_CACHE" || name == "TORCH_LOGS" || name == "TORCH_COMPILE_DEBUG" ||
      name == "TORCH_SHOW_CPP_STACKTRACES")
    return true;
  return !hasDangerousWord(name);
}

std::string withoutKnownBlocks(std::string_view text) {
  std::string out(text);
  blankOut(out, sourceBlock);
  blankOut(out, resetLine);
  return out;
}

}  // namespace kerf::inline capture
