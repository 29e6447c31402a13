#include "engine/capture/audit/allowed_calls.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "engine/capture/audit/call_tables.h"
#include "engine/ir/graph.h"
#include "engine/ir/sympy_functions.h"
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
constexpr auto forbiddenParts = std::to_array<std::string_view>({"load",
                                                                 "load_library",
                                                                 "load_libraries",
                                                                 "import_module",
                                                                 "hub",
                                                                 "save",
                                                                 "from_file",
                                                                 "exec",
                                                                 "eval",
                                                                 "system",
                                                                 "popen",
                                                                 "compile",
                                                                 "open",
                                                                 "breakpoint",
                                                                 "execl",
                                                                 "execle",
                                                                 "execlp",
                                                                 "execv",
                                                                 "execve",
                                                                 "execvp",
                                                                 "execvpe",
                                                                 "posix_spawn",
                                                                 "posix_spawnp",
                                                                 "spawnl",
                                                                 "spawnv",
                                                                 "spawnvp",
                                                                 "fork",
                                                                 "forkpty",
                                                                 "unlink",
                                                                 "rmtree",
                                                                 "rmdir",
                                                                 "removedirs",
                                                                 "tofile",
                                                                 "write_file",
                                                                 "read_file",
                                                                 "write_text",
                                                                 "write_bytes",
                                                                 "fdopen",
                                                                 "startfile",
                                                                 "loads",
                                                                 "get_device_module"});
/// The modules of Python among them: what lies behind these runs code or reaches files.
constexpr auto forbiddenModules = std::to_array<std::string_view>(
    {"os", "sys", "subprocess", "importlib", "ctypes", "pickle", "shutil", "runpy", "socket", "cpp_extension",
     "builtins", "posix", "pathlib", "marshal", "multiprocessing"});

constexpr auto callbackRules =
    std::to_array<CallbackRule>({{"torch.utils.checkpoint.checkpoint", 0, " function context_fn "},
                                 {"torch.vmap", 0, " func "},
                                 {"torch.lobpcg", 10, " tracker "},
                                 {"torch._check", 1, " message "},
                                 {"torch._check_index", 1, " message "},
                                 {"torch._check_is_size", 1, " message "},
                                 {"torch._check_tensor_all", 1, " message "},
                                 {"torch._check_value", 1, " message "},
                                 {"builtins.max", std::string_view::npos, " key "},
                                 {"builtins.min", std::string_view::npos, " key "},
                                 {"builtins.sorted", std::string_view::npos, " key "},
                                 {"builtins.print", std::string_view::npos, " file "}});

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
bool isForbiddenModule(std::string_view part) {
  return std::ranges::find(forbiddenModules, part) != forbiddenModules.end();
}

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
    return isDunder(part) || isForbiddenModule(part) || std::ranges::find(forbiddenParts, part) != forbiddenParts.end();
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
      return fail(ErrorCode::BadUsage, "the allowed call '{}' is not the dotted name of a function", target);
    if (isForbiddenCall(target))
      return fail(ErrorCode::BadUsage, "'{}' cannot be allowed: it loads or runs code, which no export may do", target);
    extra.insert(target);
  }
  return extra;
}

bool isAllowedAttribute(std::string_view name) {
  const bool isFlag = name.starts_with("is_") && isPythonIdentifier(name);
  return isFlag || readAttributes().contains(name);
}

bool isGuardMethod(std::string_view name) { return guardMethods().contains(name); }

bool isAllowedSelfPath(std::string_view path) {
  return allParts(path, [](std::string_view part) {
    return !isDunder(part) && !isForbiddenModule(part) && !moduleMembers().contains(part);
  });
}

bool isAllowedSelfCall(std::string_view path) {
  return isAllowedSelfPath(path) && !isForbiddenCall(path.substr(path.rfind('.') + 1));
}

bool isCalledByName(std::string_view name) {
  constexpr auto prefixes = std::to_array<std::string_view>({"math_", "_operator_", "torch__dynamo_"});
  return builtinFunctions().contains(name) || boundNames().contains(name) || moduleClasses().contains(name) ||
         isSympyFunction(name) ||
         std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool CallbackRule::isCalledBy(std::string_view keyword) const {
  return keywords.find(fmt::format(" {} ", keyword)) != std::string_view::npos;
}

const CallbackRule* callbackRule(std::string_view target) {
  constexpr std::string_view builtins = "builtins.";
  const auto* rule = std::ranges::find_if(callbackRules, [&](const CallbackRule& row) {
    return row.target == target || (row.target.starts_with(builtins) && row.target.substr(builtins.size()) == target);
  });
  return rule == callbackRules.end() ? nullptr : rule;
}

}  // namespace kerf::inline capture
