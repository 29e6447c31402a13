#include "engine/capture/pt2/program_reader.h"

#include <algorithm>
#include <array>

#include "engine/capture/pt2/argument.h"
#include "engine/capture/pt2/graph_reader.h"
#include "engine/capture/pt2/schema.h"
#include "engine/ir/printer.h"

namespace kerf::inline capture::pt2 {
namespace {

/// Where a kind of spec keeps the fully qualified name, or the user input, that it is about.
struct SpecRow {
  std::string_view kind;
  std::string_view target;
};
constexpr auto specRows = std::to_array<SpecRow>({{"user_input", ""},
                                                  {"parameter", "parameter_name"},
                                                  {"buffer", "buffer_name"},
                                                  {"tensor_constant", "tensor_constant_name"},
                                                  {"custom_obj", "custom_obj_name"},
                                                  {"token", ""},
                                                  {"constant_input", ""},
                                                  {"user_output", ""},
                                                  {"loss_output", ""},
                                                  {"buffer_mutation", "buffer_name"},
                                                  {"parameter_mutation", "parameter_name"},
                                                  {"gradient_to_parameter", "parameter_name"},
                                                  {"gradient_to_user_input", "user_input_name"},
                                                  {"user_input_mutation", "user_input_name"}});

struct Spec {
  GraphSignature::Entry entry;
  std::string constant;  ///< Python text of a plain value
};

/// {"as_int": 4} → "4".
Result<std::string> readConstant(JsonCursor& json) {
  std::string text = "None";
  KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
    KERF_TRY(const auto value, readPlainArgument(json, key));
    if (!value) return json.failHere(fmt::format("'{}' is not a constant", key));
    text = printArgument(Graph(), *value, ArgumentStyle::Python);
    return {};
  }));
  return text;
}

/// The `arg` of a spec: {"name": …}, {"as_tensor": {"name": …}}, {"as_sym_int": {"as_name": …}}, {"as_int": 4}.
Result<void> readSpecArgument(JsonCursor& json, Spec& spec) {
  return json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == "name" || key == "as_name") {
      KERF_TRY(spec.entry.name, json.string());
      return {};
    }
    (void)json.peek();
    if (key == "as_tensor" || key == "as_custom_obj" || key.starts_with("as_sym_")) {
      if (json.peek() == '{') return readSpecArgument(json, spec);
      KERF_CHECK(json.skip());
      return {};
    }
    KERF_TRY(const auto value, readPlainArgument(json, key));
    if (value)
      spec.constant = printArgument(Graph(), *value, ArgumentStyle::Python);
    else
      KERF_CHECK(json.skip());
    return {};
  });
}

Result<void> readSpecField(JsonCursor& json, std::string_view key, std::string_view target, Spec& spec) {
  if (key == "arg") {
    KERF_CHECK(readSpecArgument(json, spec));
  } else if (key == target) {
    KERF_TRY(spec.entry.target, json.string());
  } else if (key == "persistent") {
    KERF_TRY(spec.entry.persistent, json.boolean());
  } else if (key == "name") {
    KERF_TRY(spec.entry.name, json.string());
  } else if (key == "value") {
    KERF_TRY(spec.constant, readConstant(json));
  } else {
    KERF_CHECK(json.skip());
  }
  return {};
}

Result<Spec> readSpec(JsonCursor& json) {
  Spec spec;
  KERF_CHECK(json.forEachMember([&](std::string kind) -> Result<void> {
    const auto row = std::ranges::find(specRows, kind, &SpecRow::kind);
    if (row == specRows.end())
      return json.failHere(fmt::format("the signature has an unknown kind of entry: '{}'", kind));
    spec.entry.kind = std::move(kind);
    return json.forEachMember([&](const std::string& key) { return readSpecField(json, key, row->target, spec); });
  }));
  if (spec.entry.kind.empty()) return json.failHere("the signature has an empty entry");
  return spec;
}

class ProgramReader {
 public:
  ProgramReader(std::string_view text, std::string_view name, const ImportLimits& limits,
                const ImportProgress& progress)
      : m_json(text, name, limits.nesting), m_limits(limits), m_progress(progress), m_textBytes(text.size()) {}

  Result<ReadProgram> read() {
    KERF_CHECK(findFields());
    KERF_CHECK(checkVersion());
    if (!m_graphModule) return m_json.failHere("the program has no graph_module");
    m_json.seek(*m_graphModule);
    KERF_CHECK(m_json.forEachMember([&](const std::string& key) { return readGraphModuleField(key); }));
    if (!m_graph || !m_signature) return m_json.failHere("the graph_module lacks its graph or its signature");
    m_json.seek(*m_signature);
    KERF_CHECK(readSignature());
    m_json.seek(*m_graph);
    GraphReading reading{m_limits, m_progress, m_textBytes, m_out.program};
    KERF_TRY(m_out.module, readPt2Graph(m_json, reading, m_constantNames));
    if (const auto ranges = m_out.program.programFields.find("range_constraints");
        ranges != m_out.program.programFields.end())
      m_out.module.symbolRanges = readRangeConstraints(ranges->second, m_limits.nesting);
    return std::move(m_out);
  }

 private:
  Result<void> findFields() {
    KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
      (void)m_json.peek();
      const std::size_t at = m_json.position();
      if (key == "graph_module") m_graphModule = at;
      if (key == "schema_version") return readVersion();
      if (key == "torch_version" && m_json.peek() == '"') {
        KERF_TRY(m_out.torchVersion, m_json.string());
        return {};
      }
      KERF_TRY(const std::string_view value, m_json.skip());
      if (key != "graph_module") m_out.program.programFields[key] = value;
      return {};
    }));
    return m_json.end();
  }

  Result<void> readVersion() {
    if (m_json.peek() != '{') {  // the first schemas had one number
      KERF_TRY(m_major, m_json.integer());
      return {};
    }
    return m_json.forEachMember([&](const std::string& key) -> Result<void> {
      KERF_TRY(const std::int64_t number, m_json.integer());
      if (key == "major") m_major = number;
      if (key == "minor") m_out.program.schemaMinor = number;
      return {};
    });
  }

  Result<void> checkVersion() {
    if (m_major == schemaMajor) return {};
    return fail(
        ErrorCode::BadInput,
        "the program uses schema {}.{} of torch.export; Kerf reads schema {}, which torch 2.5 to 2.11 and later "
        "write: save it again with one of those",
        m_major, m_out.program.schemaMinor, schemaMajor);
  }

  Result<void> readGraphModuleField(const std::string& key) {
    (void)m_json.peek();
    const std::size_t at = m_json.position();
    KERF_TRY(const std::string_view value, m_json.skip());
    if (key == "graph")
      m_graph = at;
    else if (key == "signature")
      m_signature = at;
    else
      m_out.program.graphModuleFields[key] = value;
    return {};
  }

  Result<void> readSignature() {
    return m_json.forEachMember([&](const std::string& key) -> Result<void> {
      const bool inputs = key == "input_specs";
      if (!inputs && key != "output_specs") {
        KERF_CHECK(m_json.skip());
        return {};
      }
      return m_json.forEachElement([&] { return readEntry(inputs); });
    });
  }

  Result<void> readEntry(bool input) {
    (void)m_json.peek();
    const std::size_t at = m_json.position();
    KERF_TRY(const std::string_view text, m_json.skip());
    m_json.seek(at);
    KERF_TRY(Spec spec, readSpec(m_json));
    std::vector<std::string>& texts = input ? m_out.program.inputSpecs : m_out.program.outputSpecs;
    if (std::int64_t(texts.size()) >= m_limits.nodes)
      return fail(ErrorCode::TooLarge, "the signature has more than {} entries", m_limits.nodes);
    texts.emplace_back(text);
    if (input) {
      m_constantNames.push_back(spec.entry.name);
      m_out.constants.push_back(std::move(spec.constant));
    }
    (input ? m_out.signature.inputs : m_out.signature.outputs).push_back(std::move(spec.entry));
    return {};
  }

  JsonCursor m_json;
  const ImportLimits& m_limits;
  const ImportProgress& m_progress;
  std::size_t m_textBytes;
  ReadProgram m_out;
  std::int64_t m_major = 0;
  std::optional<std::size_t> m_graphModule, m_graph, m_signature;
  std::vector<std::string> m_constantNames;
};

}  // namespace

std::vector<SymbolRange> readRangeConstraints(std::string_view json, int nesting) {
  std::vector<SymbolRange> ranges;
  JsonCursor cursor(json, "range_constraints", nesting);
  if (cursor.peek() != '{') return ranges;
  const auto end = [&](std::optional<std::int64_t>& value) -> Result<void> {
    if (cursor.null()) return {};
    KERF_TRY(value, cursor.integer());
    if (*value >= INT64_MAX - 1 || *value <= -INT64_MAX) value.reset();  // sys.maxsize - 1: no bound, in older torch
    return {};
  };
  (void)cursor.forEachMember([&](std::string symbol) -> Result<void> {
    SymbolRange range{.name = std::move(symbol)};
    KERF_CHECK(cursor.forEachMember([&](const std::string& key) -> Result<void> {
      if (key == "min_val") return end(range.lower);
      if (key == "max_val") return end(range.upper);
      KERF_CHECK(cursor.skip());
      return {};
    }));
    ranges.push_back(std::move(range));
    return {};
  });
  return ranges;
}

Result<ReadProgram> readPt2Program(std::string_view text, std::string_view name, const ImportLimits& limits,
                                   const ImportProgress& progress) {
  return ProgramReader(text, name, limits, progress).read();
}

}  // namespace kerf::inline capture::pt2
