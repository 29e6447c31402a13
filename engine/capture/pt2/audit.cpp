#include "engine/capture/pt2/audit.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>

#include "engine/capture/audit/auditor.h"
#include "engine/capture/common/json.h"
#include "engine/capture/pt2/srepr_audit.h"
#include "engine/capture/pt2/torch_file.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr int deepest = 400;

std::unexpected<Error> refuse(std::string_view key, std::string_view value) {
  return fail(ErrorCode::BadInput, "an exported program may not hold the {} '{}'", key, value.substr(0, 200));
}

/// "layers.0.weight", "add_1", "": no character that ends a string or begins an expression.
bool isPlainName(std::string_view name) {
  return std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 || std::string_view("_.-:/").find(char(c)) != std::string_view::npos;
  });
}

class ProgramAudit {
 public:
  explicit ProgramAudit(const ExtraCalls& extra) : m_extra(extra) {}

  /// What an object is, which says what its keys mean.
  enum class Place : std::uint8_t { Program, GraphModule, Graph, Node, Config, Data, Other };

  /// A value below `key`; objects in it, also those in lists, are `place`.
  Result<void> value(JsonCursor& json, std::string_view key, Place place) {
    switch (json.peek()) {
      case '{':
        return object(json, place);
      case '[':
        return json.forEachElement([&] { return value(json, key, place); });
      case '"': {
        KERF_TRY(const std::string text, json.string());
        return place == Place::Data ? Result<void>() : string(key, text);
      }
      default:
        return skip(json);
    }
  }

 private:
  static Result<void> skip(JsonCursor& json) {
    KERF_TRY([[maybe_unused]] const std::string_view text, json.skip());
    return {};
  }

  Result<void> object(JsonCursor& json, Place place) {
    std::unordered_set<std::string> keys;
    return json.forEachMember([&](std::string key) -> Result<void> {
      if (!keys.insert(key).second) return refuse("key (twice)", key);
      const bool isProgram = place == Place::Program || place == Place::GraphModule;
      const bool isField = isProgram ? isProgramField(key) : place != Place::Config || key == "config";
      return isField ? value(json, key, inner(place, key)) : refuse("field", key);
    });
  }

  /// What stands below a key. The metadata of nodes and of the graph's module are data of any kind, which nothing
  /// evaluates.
  static Place inner(Place place, std::string_view key) {
    if (place == Place::Data) return Place::Data;
    const bool hasMetadata = place == Place::Node || place == Place::GraphModule;
    if (hasMetadata && key == "metadata") return Place::Data;
    if (place == Place::Program && key == "graph_module") return Place::GraphModule;
    if (place == Place::Graph && key == "nodes") return Place::Node;
    const bool mayHaveGraph = place == Place::GraphModule || place == Place::Other;  // "as_graph" has one too
    return mayHaveGraph && key == "graph" ? Place::Graph : Place::Other;
  }

  Result<void> string(std::string_view key, std::string_view text) const {
    const auto* rule = std::ranges::find(rules, key, &Rule::key);
    if (rule == std::end(rules) || (this->*rule->allows)(text)) return {};
    return refuse(key, text);
  }

  bool allowsTarget(std::string_view text) const {
    const std::string target = text.starts_with("_operator.") ? std::string(text.substr(1)) : std::string(text);
    return isAllowedFunction(target) || (m_extra.contains(target) && !isForbiddenCall(target));
  }
  bool allowsExpression(std::string_view text) const { return isAllowedSrepr(text); }
  bool allowsName(std::string_view text) const { return isPlainName(text); }
  bool allowsFile(std::string_view text) const {
    return isPlainName(text) && text.find("..") == std::string_view::npos && !text.starts_with('/');
  }
  bool allowsGuard(std::string_view text) const { return isAllowedCondition(text, {"L"}); }
  bool allowsSpec(std::string_view text) const { return spec(text, 0); }

  struct Rule {
    std::string_view key;
    bool (ProgramAudit::*allows)(std::string_view) const;
  };
  static constexpr std::array<Rule, 16> rules = {{{"target", &ProgramAudit::allowsTarget},
                                                  {"as_operator", &ProgramAudit::allowsTarget},
                                                  {"expr_str", &ProgramAudit::allowsExpression},
                                                  {"guards_code", &ProgramAudit::allowsGuard},
                                                  {"in_spec", &ProgramAudit::allowsSpec},
                                                  {"out_spec", &ProgramAudit::allowsSpec},
                                                  {"path_name", &ProgramAudit::allowsFile},
                                                  {"name", &ProgramAudit::allowsName},
                                                  {"as_name", &ProgramAudit::allowsName},
                                                  {"fqn", &ProgramAudit::allowsName},
                                                  {"parameter_name", &ProgramAudit::allowsName},
                                                  {"buffer_name", &ProgramAudit::allowsName},
                                                  {"tensor_constant_name", &ProgramAudit::allowsName},
                                                  {"custom_obj_name", &ProgramAudit::allowsName},
                                                  {"user_input_name", &ProgramAudit::allowsName},
                                                  {"forward_arg_names", &ProgramAudit::allowsName}}};

  /// A treespec, and the JSON in its strings (contexts are that).
  static bool spec(std::string_view text, int depth) {
    if (depth > 4) return false;
    JsonCursor json(text, "spec", deepest);
    return specValue(json, depth).has_value() && json.end().has_value();
  }

  static Result<void> specValue(JsonCursor& json, int depth) {
    if (json.peek() == '[') return json.forEachElement([&] { return specValue(json, depth); });
    if (json.peek() == '"') {
      KERF_TRY(const std::string text, json.string());
      return specText(text, depth);
    }
    if (json.peek() != '{') return skip(json);
    std::set<std::string> keys;
    return json.forEachMember([&](std::string key) -> Result<void> {
      if (!keys.insert(key).second || key == "__enum__") return refuse("key of a spec", key);
      if (!key.starts_with("default_factory")) return specValue(json, depth);
      KERF_TRY(const std::string text, json.string());
      constexpr std::array<std::string_view, 9> types = {"builtins", "list", "dict",  "set", "int",
                                                         "float",    "str",  "tuple", "bool"};
      return std::ranges::find(types, text) != types.end() ? Result<void>() : refuse(key, text);
    });
  }

  static Result<void> specText(std::string_view text, int depth) {
    const bool isJson = text.find_first_of("{[") != std::string_view::npos;
    return !isJson || spec(text, depth + 1) ? Result<void>() : refuse("spec", text);
  }

  const ExtraCalls& m_extra;
};

}  // namespace

namespace {

Result<void> audit(std::string_view json, const ExtraCalls& extra, ProgramAudit::Place place) {
  JsonCursor cursor(json, "the exported program", deepest);
  if (cursor.peek() != '{') return fail(ErrorCode::BadInput, "an exported program is an object");
  KERF_CHECK(ProgramAudit(extra).value(cursor, {}, place));
  return cursor.end();
}

}  // namespace

Result<void> auditProgramJson(std::string_view json, const ExtraCalls& extra) {
  return audit(json, extra, ProgramAudit::Place::Program);
}

Result<void> auditConfigJson(std::string_view json) { return audit(json, {}, ProgramAudit::Place::Config); }

bool isProgramField(std::string_view name) {
  constexpr auto fields = std::to_array<std::string_view>(
      {"graph_module", "graph", "signature", "module_call_graph", "metadata", "treespec_namedtuple_fields",
       "opset_version", "schema_version", "verifiers", "range_constraints", "torch_version", "guards_code"});
  return std::ranges::find(fields, name) != fields.end();
}

bool isPlainTorchFile(std::span<const std::byte> bytes) {
  const auto file = readTorchFile(bytes);
  if (!file) return false;
  std::set<std::string_view> seen;
  return std::ranges::all_of(file->directory.members(), [&](const ZipMember& member) {
    std::string_view name = member.name;
    if (!name.starts_with(file->root) || !seen.insert(name).second) return false;
    name.remove_prefix(file->root.size());
    if (name.starts_with("data/")) return name.find_first_not_of("0123456789", 5) == std::string_view::npos;
    constexpr std::array<std::string_view, 6> usual = {
        "data.pkl", "byteorder", "version", ".data/serialization_id", ".format_version", ".storage_alignment"};
    return std::ranges::find(usual, name) != usual.end();
  });
}

}  // namespace kerf::inline capture::pt2
