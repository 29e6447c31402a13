#include "app/cli/tool_table.h"

#include <algorithm>
#include <cctype>

#include "engine/support/read_json.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

constexpr ToolRow rows[] = {
    {"ls"},
    {"show"},
    {"diff"},
    {"joint"},
    {"passes"},
    {"partition"},
    {"run", true},
    {"compare", true},
    {"value"},
    {"bisect", true},
    {"verify", true},
    {"audit", true},
    {"ranks", true},
    {"shard"},
    {"ops"},
    {"patterns"},
    {"store info"},
    {"store verify"},
    {"doctor"},
    {"import", false, true},
    {"minify", true, true},
    {"triage", false, true},
    {"export", false, true},
    {"report", false, true},
    {"share", false, true},
    {"check", false, true},
};

/// Of every command, and what a tool's caller decides otherwise.
constexpr std::string_view commonFlags[] = {"--help", "--json", "--store", "--color", "--verbose"};
/// They start other programs, never end, or ask a terminal.
constexpr std::string_view deniedFlags[] = {"--python", "--check",      "--keep-env", "--clean-env",
                                            "--follow", "--regenerate", "--judge",    "--progress",
                                            "--oracle", "--confirm",    "--link",     "--quiet"};
constexpr std::string_view writingFlags[] = {"--output",      "--save",        "--repro-dir",
                                             "--repro-level", "--checkpoints", "--pareto"};

bool isIn(std::span<const std::string_view> list, const OptionEntry& option) {
  return std::ranges::any_of(option.flags,
                             [&](const auto& flag) { return std::ranges::find(list, flag) != list.end(); });
}

CommandEntry toolEntry(CommandEntry entry, bool writes) {
  std::erase_if(entry.options, [&](const OptionEntry& option) {
    return isIn(commonFlags, option) || isIn(deniedFlags, option) || (!writes && isIn(writingFlags, option));
  });
  return entry;
}

/// "--tol" before "-t": the flag that a line names.
const std::string& longest(const OptionEntry& option) {
  return *std::ranges::max_element(option.flags, {}, [](const auto& flag) { return flag.size(); });
}

std::string_view typeOf(const OptionEntry& option) {
  if (option.value.empty() && !option.flags.empty()) return "boolean";
  if (option.value == "INT" || option.value == "UINT") return "integer";
  return option.value == "FLOAT" ? "number" : "string";
}

Result<std::string> valueText(const OptionEntry& option, const Json& value) {
  const std::string_view type = typeOf(option);
  if (type == "string" && value.is_string()) return value.get<std::string>();
  if (type == "integer" && value.is_number_integer()) return value.dump();
  if (type == "number" && value.is_number()) return value.dump();
  return fail(ErrorCode::BadUsage, "{} must be of type {}", argumentKey(option), type);
}

Result<void> append(std::vector<std::string>& flags, std::vector<std::string>& places, const OptionEntry& option,
                    const Json& value) {
  if (option.repeated && value.is_array()) {
    for (const Json& one : value) KERF_CHECK(append(flags, places, option, one));
    return {};
  }
  if (typeOf(option) == "boolean") {
    if (!value.is_boolean()) return fail(ErrorCode::BadUsage, "{} must be true or false", argumentKey(option));
    if (value.get<bool>()) flags.push_back(longest(option));
    return {};
  }
  KERF_TRY(const std::string text, valueText(option, value));
  if (text.contains('\0')) return fail(ErrorCode::BadUsage, "{} holds a zero byte", argumentKey(option));
  if (option.flags.empty())
    places.push_back(text);
  else
    flags.push_back(longest(option) + "=" + text);
  return {};
}

const OptionEntry* byKey(const Tool& tool, std::string_view key) {
  const auto found = std::ranges::find(tool.entry.options, key, [](const auto& option) { return argumentKey(option); });
  return found == tool.entry.options.end() ? nullptr : &*found;
}

Json typed(const OptionEntry& option, const std::string& text) {
  const Json number = readJson<Json>(text);
  return typeOf(option) != "string" && number.is_number() ? number : Json(text);
}

void put(Json& arguments, const OptionEntry& option, Json value) {
  Json& place = arguments[argumentKey(option)];
  if (!option.repeated)
    place = std::move(value);
  else
    place.push_back(std::move(value));
}

/// Reads a command line option by option.
class LineReader {
 public:
  LineReader(const Tool& tool, std::span<const std::string> line) : m_tool(tool), m_line(line) {
    for (const auto& option : tool.entry.options)
      if (option.flags.empty()) m_places.push_back(&option);
  }

  Result<Json> arguments() {
    Json arguments = Json::object();
    bool onlyPlaces = false;
    while (m_at < m_line.size()) {
      const std::string& word = m_line[m_at++];
      if (!onlyPlaces && word == "--")
        onlyPlaces = true;
      else if (!onlyPlaces && word.size() > 1 && word[0] == '-')
        KERF_CHECK(flag(arguments, word));
      else
        KERF_CHECK(place(arguments, word));
    }
    return arguments;
  }

 private:
  Result<void> flag(Json& arguments, const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    const auto found = std::ranges::find_if(m_tool.entry.options, [&](const auto& option) {
      return std::ranges::find(option.flags, name) != option.flags.end();
    });
    if (found == m_tool.entry.options.end())
      return fail(ErrorCode::BadUsage, "{} is no option that can be certified", name);
    if (typeOf(*found) == "boolean") {
      arguments[argumentKey(*found)] = true;
      return {};
    }
    if (name.size() < word.size())
      put(arguments, *found, typed(*found, word.substr(name.size() + 1)));
    else if (m_at < m_line.size())
      put(arguments, *found, typed(*found, m_line[m_at++]));
    else
      return fail(ErrorCode::BadUsage, "{} needs a value", name);
    return {};
  }

  Result<void> place(Json& arguments, const std::string& word) {
    if (m_next >= m_places.size()) return fail(ErrorCode::BadUsage, "there is no place for {}", word);
    put(arguments, *m_places[m_next], word);
    if (!m_places[m_next]->repeated) ++m_next;
    return {};
  }

  const Tool& m_tool;
  std::span<const std::string> m_line;
  std::vector<const OptionEntry*> m_places;
  std::size_t m_at = 0, m_next = 0;
};

/// "trace.log" of "trace.log#name@stage:aten"; what begins with no path that exists stays whole.
std::string existingPart(const std::string& text) {
  std::error_code ignored;
  for (std::size_t end = text.size(); end != std::string::npos && end > 0; end = text.find_last_of("#@", end - 1))
    if (fs::symlink_status(text.substr(0, end), ignored).type() != fs::file_type::not_found) return text.substr(0, end);
  return text;
}

}  // namespace

std::span<const ToolRow> toolRows() { return rows; }

std::vector<Tool> toolTable(const CLI::App& root, bool mayWrite) {
  std::vector<Tool> tools;
  const auto table = commandTable(root);
  for (const ToolRow& row : rows) {
    const auto found = std::ranges::find(table, row.command, [](const auto& entry) { return entry.name(); });
    if (found != table.end() && (mayWrite || !row.writes)) tools.push_back({&row, toolEntry(*found, row.writes)});
  }
  return tools;
}

const Tool* findTool(std::span<const Tool> tools, std::string_view name) {
  const auto found = std::ranges::find(tools, name, &Tool::name);
  return found == tools.end() ? nullptr : &*found;
}

std::string argumentKey(const OptionEntry& option) {
  std::string key = option.flags.empty() ? option.place : longest(option);
  key.erase(0, key.find_first_not_of('-'));
  for (char& letter : key) letter = letter == '-' ? '_' : char(std::tolower(static_cast<unsigned char>(letter)));
  return key;
}

Json argumentSchema(const Tool& tool) {
  Json properties = Json::object(), required = Json::array();
  for (const auto& option : tool.entry.options) {
    Json one{{"type", typeOf(option)}};
    if (!option.choices.empty()) one["enum"] = option.choices;
    if (option.repeated) one = {{"type", "array"}, {"items", one}};
    one["description"] = option.description;
    properties[argumentKey(option)] = std::move(one);
    if (option.required) required.push_back(argumentKey(option));
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}};
}

Result<std::vector<std::string>> toolLine(const Tool& tool, const Json& arguments) {
  if (!arguments.is_object()) return fail(ErrorCode::BadUsage, "arguments must be an object");
  std::vector<std::string> line = tool.entry.words, places;
  for (const auto& [key, value] : arguments.items())
    if (byKey(tool, key) == nullptr) return fail(ErrorCode::BadUsage, "{} has no argument {}", tool.name(), key);
  std::string missing;  // an argument by its place: what follows it would take its place
  for (const auto& option : tool.entry.options) {
    const auto found = arguments.find(argumentKey(option));
    if (found == arguments.end() && option.required)
      return fail(ErrorCode::BadUsage, "{} needs {}", tool.name(), argumentKey(option));
    if (found == arguments.end()) {
      if (option.flags.empty()) missing = argumentKey(option);
      continue;
    }
    if (option.flags.empty() && !missing.empty())
      return fail(ErrorCode::BadUsage, "{} needs {} beside {}", tool.name(), missing, argumentKey(option));
    KERF_CHECK(append(line, places, option, *found));
  }
  if (!places.empty()) line.emplace_back("--");
  line.insert(line.end(), places.begin(), places.end());
  return line;
}

Result<Json> toolArguments(const Tool& tool, std::span<const std::string> line) {
  return LineReader(tool, line).arguments();
}

std::vector<fs::path> filesOf(const Tool& tool, const Json& arguments) {
  std::vector<fs::path> files;
  const auto add = [&](const OptionEntry& option, const Json& value) {
    if (!value.is_string()) return;
    const std::string text = existingPart(value.get<std::string>());
    std::error_code ignored;
    if (fs::exists(text, ignored) || option.takesFile() || text.contains('/')) files.emplace_back(text);
  };
  for (const auto& option : tool.entry.options) {
    const auto found = arguments.find(argumentKey(option));
    if (found == arguments.end()) continue;
    if (found->is_array())
      for (const Json& one : *found) add(option, one);
    else
      add(option, *found);
  }
  return files;
}

}  // namespace kerf::cli
