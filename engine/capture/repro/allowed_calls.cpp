#include "engine/capture/repro/allowed_calls.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "engine/capture/repro/call_tables.h"
#include "engine/ir/graph.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture {
namespace {

struct TableRow {
  std::string_view prefix;
  const CallNames& (*names)();
};
/// The longest prefix first.
constexpr std::array<TableRow, 6> tables = {{{"torch.nn.functional.", functionalFunctions},
                                             {"torch.", torchFunctions},
                                             {"operator.", operatorFunctions},
                                             {"math.", mathFunctions},
                                             {"builtins.", builtinFunctions},
                                             {"", boundNames}}};

bool isInTables(std::string_view target) {
  return std::ranges::any_of(tables, [&](const TableRow& row) {
    return target.starts_with(row.prefix) && row.names().contains(target.substr(row.prefix.size()));
  });
}

/// Parts of a dotted name that never stand in an export, wherever they are.
constexpr std::array<std::string_view, 24> forbiddenParts = {
    "load",    "load_library", "load_libraries", "import_module", "hub",        "os",    "sys",    "subprocess",
    "save",    "from_file",    "importlib",      "ctypes",        "exec",       "eval",  "system", "popen",
    "compile", "pickle",       "shutil",         "open",          "breakpoint", "runpy", "socket", "cpp_extension"};

/// aten's op names without their overloads.
const std::unordered_set<std::string>& atenNames() {
  static const std::unordered_set<std::string> names = [] {
    std::unordered_set<std::string> found;
    for (const OpInfo& op : allOps()) {
      std::string_view name = opName(op.id);
      if (name.starts_with("torch.ops.")) name.remove_prefix(10);
      if (name.starts_with("aten.")) found.emplace(name.substr(5, name.find('.', 5) - 5));
    }
    return found;
  }();
  return names;
}

bool isAtenName(std::string_view name) { return atenNames().contains(std::string(name)); }

struct Module {
  std::string_view prefix;  ///< of the function's name
  std::string_view aten;    ///< of ATen's name for it
};
constexpr std::array<Module, 14> atenModules = {{{"torch.", ""},
                                                 {"torch.Tensor.", ""},
                                                 {"torch._C._nn.", ""},
                                                 {"torch._C._VariableFunctions.", ""},
                                                 {"torch._VF.", ""},
                                                 {"torch.functional.", ""},
                                                 {"torch.nn.functional.", ""},
                                                 {"torch._C._fft.", ""},
                                                 {"torch._C._linalg.", ""},
                                                 {"torch._C._special.", ""},
                                                 {"torch.fft.", "fft_"},
                                                 {"torch.linalg.", "linalg_"},
                                                 {"torch.special.", "special_"},
                                                 {"inductor_prims.", ""}}};

/// `visit(part)` for each part between the dots until it says false; whether it never did.
template <typename Visit>
bool allParts(std::string_view path, Visit visit) {
  for (;;) {
    const std::size_t dot = path.find('.');
    if (!visit(path.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    path.remove_prefix(dot + 1);
  }
}

bool isDunder(std::string_view name) { return name.starts_with("__"); }

/// `torch.ops.NS.OP[.OVERLOAD]`; an overload or op may be a keyword ("from"), which is written with getattr.
bool isOpOverload(std::string_view target) {
  if (!target.starts_with("torch.ops.")) return false;
  const auto dots = std::ranges::count(target, '.');
  if (dots != 3 && dots != 4) return false;
  return allParts(target, [](std::string_view part) {
    if (isDunder(part)) return isAtenName(part);  // aten.__and__
    return isPythonIdentifier(part) || (!part.empty() && isPythonIdentifier(std::string(part) + "_"));
  });
}

/// torch.ops.aten.__and__.Tensor and its kind, which the op table has.
bool isDunderOp(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.aten.__";
  return target.starts_with(prefix) && isOpOverload(target) &&
         !isForbiddenCall(target.substr(std::min(target.find('.', prefix.size()), target.size())));
}

bool isAtenFunction(std::string_view target) {
  for (const Module& module : atenModules) {
    if (!target.starts_with(module.prefix)) continue;
    const std::string_view name = target.substr(module.prefix.size());
    if (name.find('.') == std::string_view::npos && isAtenName(std::string(module.aten) + std::string(name)))
      return true;
  }
  return false;
}

}  // namespace

bool isForbiddenCall(std::string_view target) {
  if (target.starts_with("builtins.")) target.remove_prefix(9);
  const auto isBad = [](std::string_view part) {
    return isDunder(part) || std::ranges::find(forbiddenParts, part) != forbiddenParts.end();
  };
  constexpr std::array<std::string_view, 8> alone = {"globals", "locals", "vars",    "setattr",
                                                     "delattr", "input",  "getattr", "memoryview"};
  return std::ranges::find(alone, target) != alone.end() ||
         !allParts(target, [&](std::string_view part) { return !isBad(part); });
}

bool isAllowedFunction(std::string_view target) {
  if (target.starts_with("torch.Tensor.") && isAllowedMethod(target.substr(13))) return true;
  if (isDunderOp(target)) return true;
  if (isForbiddenCall(target)) return false;
  if (isOpOverload(target) || isInTables(target)) return true;
  // Names that no file defines: FX writes functions of torch._dynamo so. Python finds nothing under them.
  if (target.starts_with("torch__dynamo_") && isPythonIdentifier(target)) return true;
  return isAtenFunction(target) || findOp(OpTarget(target)) != nullptr;
}

bool isAllowedMethod(std::string_view name) {
  return tensorMethods().contains(name) || (!isDunder(name) && !isForbiddenCall(name) && isAtenName(name));
}

bool isAllowedModule(std::string_view name) {
  for (const std::string_view prefix : {"torch.nn.modules.", "torch.nn."})
    if (name.starts_with(prefix)) {
      name.remove_prefix(name.rfind('.') + 1);
      break;
    }
  return moduleClasses().contains(name);
}

Result<ExtraCalls> parseExtraCalls(const std::vector<std::string>& targets) {
  ExtraCalls extra;
  for (const std::string& target : targets) {
    if (!allParts(target, isPythonIdentifier))
      return fail(ErrorCode::BadUsage, "--allow-call: '{}' is no dotted name of a function", target);
    if (isForbiddenCall(target))
      return fail(ErrorCode::BadUsage, "--allow-call: '{}' loads or runs code, which no export may do", target);
    extra.insert(target);
  }
  return extra;
}

bool isAllowedAttribute(std::string_view name) { return !isDunder(name); }

}  // namespace kerf::inline capture
