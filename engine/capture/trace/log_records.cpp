#include "engine/capture/trace/log_records.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <nlohmann/json.hpp>

#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

/// "x.py:12 in f", also with the line's text before it ("return x  # x.py:12 in f"), as a list of one frame.
Json frameOf(std::string_view place) {
  Json frames = Json::array();
  std::string_view code;
  if (const std::size_t at = place.rfind("# "); at != place.npos) {
    code = trimmedText(place.substr(0, at));
    place = trimmedText(place.substr(at + 2));
  }
  if (place.starts_with("at ")) place.remove_prefix(3);
  place = place.substr(0, place.find(" ("));
  const std::string_view file = place.substr(0, place.find(" in "));
  const std::size_t colon = file.rfind(':');
  std::int64_t line = 0;
  const char* const end = file.data() + file.size();
  if (colon == file.npos || std::from_chars(file.data() + colon + 1, end, line).ptr != end || line <= 0) return frames;
  const std::string_view name = file.size() == place.size() ? std::string_view() : place.substr(file.size() + 4);
  Json frame{{"line", line}, {"name", std::string(name)}, {"filename", std::string(file.substr(0, colon))}};
  if (!code.empty()) frame["loc"] = std::string(code);
  frames.push_back(std::move(frame));
  return frames;
}

class RecordWriter {
 public:
  LogRecords run(const std::vector<PrintedMessage>& messages) {
    for (const PrintedMessage& message : messages) write(message);
    return std::move(m_made);
  }

  /// `fallback`: where a record without a compile id comes from.
  void add(const PrintedMessage& from, std::string_view kind, Json value, const Lines& payload = {},
           const Json& fallback = Json::array()) {
    Json header;
    header[std::string(kind)] = std::move(value);
    const std::pair<std::string_view, std::optional<std::int64_t>> numbers[] = {
        {"compiled_autograd_id", from.id.autograd},
        {"frame_id", from.id.frame},
        {"frame_compile_id", from.id.compile},
        {"attempt", from.id.attempt}};
    for (const auto& [name, number] : numbers)
      if (number) header[std::string(name)] = *number;
    if (from.rank >= 0) header["rank"] = from.rank;
    if (from.id.text().empty()) header["stack"] = fallback;
    if (!payload.empty()) header["has_payload"] = true;
    RawRecord record;
    record.line = from.line;
    record.json = record.begin = std::int64_t(m_made.text.size());
    m_made.text += header.dump(-1, ' ', false, Json::error_handler_t::replace);
    record.jsonLength = std::int64_t(m_made.text.size()) - record.json;
    m_made.text += '\n';
    if (!payload.empty()) {
      record.payload = std::int64_t(m_made.text.size());
      record.payloadLine = from.line;
      for (const std::string& line : payload) m_made.text += "\t" + line + "\n";
      record.payloadLength = std::int64_t(m_made.text.size()) - 1 - record.payload;
    }
    m_made.records.push_back(record);
  }

  LogRecords m_made;

 private:
  void write(const PrintedMessage& message);

  void addStart(const PrintedMessage& message, std::string_view function, std::string_view place) {
    const Json stack = frameOf(fmt::format("{} in {}", place, function));
    std::string& known = m_started[fmt::format("{} {}", message.rank, message.id.text())];
    if (stack.empty() || message.id.text().empty() || known == stack.dump()) return;
    if (known.empty()) add(message, "dynamo_start", Json{{"stack", stack}});
    known = stack.dump();
  }

  void graphBreak(const PrintedMessage& message);
  void recompile(const PrintedMessage& message);
  void limit(const PrintedMessage& message);
  void guards(const PrintedMessage& message);
  void size(const PrintedMessage& message);
  void code(const PrintedMessage& message);
  void start(const PrintedMessage& message);
  void other(const PrintedMessage& message);

  std::map<std::string, std::string> m_started;
  std::map<std::string, std::int64_t>
      m_compiled;  ///< of frames whose lines have lost their ids: the newest compilation
};

Lines linesOf(const PrintedMessage& message) { return {message.lines.begin(), message.lines.end()}; }

void RecordWriter::graphBreak(const PrintedMessage& message) {
  const std::string_view first = trimmedText(message.lines.front());
  constexpr std::string_view mark = "in user code at ";
  const std::size_t at = first.find(mark);
  if (!first.starts_with("Graph break")) return;
  add(message, "dynamo_graph_break_reason", Json::object(), linesOf(message),
      at == first.npos ? Json::array({Json::object()})
                       : frameOf(fmt::format("{} in ?", first.substr(at + mark.size()))));
}

/// Whether a reason names the compilation whose guard failed: "0/1: len(x) == 3".
bool namesCompilation(std::string_view reason) {
  return !compileNumbers(reason.substr(0, reason.find(':'))).text().empty();
}

/// The reasons behind "- ", each with the lines that it goes on in: its stack stands behind "- ", too.
Lines reasonsOf(const PrintedMessage& message) {
  Lines reasons;
  for (const std::string_view line : message.lines) {
    const std::string_view text = trimmedText(line);
    const bool item = text.starts_with("- ");
    const std::string_view words = item ? trimmedText(text.substr(2)) : text;
    const bool goesOn = !reasons.empty() && (!item || (namesCompilation(reasons.front()) && !namesCompilation(words)));
    if (goesOn && !words.empty() && !(words.starts_with("guard ") && words.ends_with("failures:")))
      reasons.back() += "\n" + std::string(words);
    if (item && !goesOn) reasons.emplace_back(words);
  }
  return reasons;
}

void RecordWriter::recompile(const PrintedMessage& message) {
  const auto head = fits("Recompiling function {} in {}", trimmedText(message.lines.front()));
  const Lines reasons = reasonsOf(message);
  if (head.empty()) return;
  PrintedMessage own = message;
  if (own.id.text().empty() && !reasons.empty()) {  // "0/1: …": the compilation after the newest one
    own.id = compileNumbers(std::string_view(reasons.front()).substr(0, reasons.front().find(':')));
    if (own.id.frame && own.id.compile) {
      std::int64_t& newest = m_compiled.try_emplace(fmt::format("{}", *own.id.frame), 0).first->second;
      own.id.compile = newest = std::max(newest, *own.id.compile) + 1;
      own.id.attempt.reset();
    }
  }
  addStart(own, head[0], head[1]);
  if (!reasons.empty())
    add(own, "artifact", Json{{"name", "recompile_reasons"}, {"encoding", "json"}},
        {Json(reasons).dump(-1, ' ', false, Json::error_handler_t::replace)},
        frameOf(fmt::format("{} in {}", head[1], head[0])));
}

void RecordWriter::limit(const PrintedMessage& message) {
  std::string function, place, reason;
  for (const std::string_view line : message.lines) {
    const std::string_view text = trimmedText(line);
    if (const auto found = fits("function: '{}' ({})", text); !found.empty()) {
      function = found[0];
      place = found[1];
    }
    if (const auto found = fits("last reason: {}", text); !found.empty()) reason = found[0];
  }
  addStart(message, function, place);
  if (!reason.empty())
    add(message, "artifact", Json{{"name", "recompile_reasons"}, {"encoding", "json"}},
        {Json(Lines{reason}).dump(-1, ' ', false, Json::error_handler_t::replace)});
  const std::string what = function.empty() ? "the function" : function;
  const Json frame = frameOf(fmt::format("{} in {}", place, function));
  Json metrics{
      {"fail_type", std::string(trimmedText(message.lines.front()))},
      {"fail_reason", fmt::format("{} is not compiled again, and runs in eager mode where no guard holds", what)}};
  if (!frame.empty()) {
    metrics["fail_user_frame_filename"] = frame[0]["filename"];
    metrics["fail_user_frame_lineno"] = frame[0]["line"];
  }
  add(message, "compilation_metrics", std::move(metrics), {}, frame);
}

/// The tree that newer versions print; of older ones a list of conditions, each with its place behind "#".
void RecordWriter::guards(const PrintedMessage& message) {
  const bool tree =
      std::ranges::any_of(message.lines, [](std::string_view line) { return line.find("+- ") != line.npos; });
  if (tree) return add(message, "dynamo_cpp_guards_str", Json::object(), linesOf(message));
  Json list = Json::array();
  if (!trimmedText(message.lines.front()).starts_with("GUARDS:")) return;
  for (const std::string_view line : message.lines) {
    const std::string_view text = trimmedText(line);
    if (text.empty() || text.starts_with("GUARDS:")) continue;
    const std::size_t comment = text.find("  # ");
    Json guard{{"code", std::string(trimmedText(text.substr(0, comment)))}};
    if (comment != text.npos)
      if (Json frame = frameOf(text.substr(comment + 2)); !frame.empty()) guard["user_stack"] = std::move(frame);
    list.push_back(std::move(guard));
  }
  if (!list.empty())
    add(message, "dynamo_guards", Json::object(), {list.dump(-1, ' ', false, Json::error_handler_t::replace)});
}

/// The user's place in "return x + 1  # m.py:5 in f (_dynamo/…:12 in g), for more info …" or " at m.py:5 in f (…".
Json userFrame(std::string_view rest) {
  const std::size_t framework = rest.find(" (_");
  rest = trimmedText(rest.substr(0, std::min(framework, rest.find(", for more info"))));
  if (rest.starts_with('(')) return Json::array();
  return frameOf(rest);
}

/// "[guard suppressed] 2*s0 < 96" as the expression alone.
std::string withoutMark(std::string_view text) {
  const std::size_t close = text.starts_with('[') ? text.find("] ") : text.npos;
  return std::string(close == text.npos ? text : text.substr(close + 2));
}

struct SizeForm {
  std::string_view pattern, kind;
  std::array<std::string_view, 5> members;  ///< of the holes; empty: not kept, "user_stack": a place
};
constexpr std::array sizeForms{
    SizeForm{"create_symbol {} = {} for {} [{}]{}", "create_symbol", {"symbol", "val", "source", "vr", "user_stack"}},
    SizeForm{"create_unbacked_symint {} [{}]{}", "create_unbacked_symbol", {"symbol", "vr", "user_stack"}},
    SizeForm{"create_unbacked_symfloat {} [{}]{}", "create_unbacked_symbol", {"symbol", "vr", "user_stack"}},
    SizeForm{"create_unbacked_symbool {} [{}]{}", "create_unbacked_symbol", {"symbol", "vr", "user_stack"}},
    SizeForm{"eval {} [guard added]{}", "guard_added", {"expr", "user_stack"}},
    SizeForm{"runtime_assert {} [guard added]{}", "guard_added", {"expr", "user_stack"}},
    SizeForm{"set_replacement {} = {} ({}){}", "symbolic_shape_specialization", {"symbol", "value", "reason"}}};

void RecordWriter::size(const PrintedMessage& message) {
  const std::string_view text = trimmedText(message.lines.front());
  for (const SizeForm& form : sizeForms) {
    const auto holes = fits(form.pattern, text);
    if (holes.empty()) continue;
    Json value;
    for (std::size_t i = 0; i < holes.size(); ++i) {
      const std::string member(form.members[i]);
      if (member == "user_stack") {
        if (Json frame = userFrame(holes[i]); !frame.empty()) value[member] = std::move(frame);
      } else if (!member.empty()) {
        value[member] = member == "vr" ? fmt::format("[{}]", holes[i]) : withoutMark(holes[i]);
      }
    }
    const bool isNumber = !value.contains("value") ||
                          value["value"].get<std::string>().find_first_not_of("-0123456789") == std::string::npos;
    if (isNumber) add(message, form.kind, std::move(value));
    return;
  }
}

void RecordWriter::code(const PrintedMessage& message) {
  const std::string_view first = trimmedText(message.lines.front());
  if (const auto written = fits("Output code written to: {}", first); !written.empty())
    return add(message, "link", Json{{"name", "output code"}, {"url", std::string(written[0])}});
  Lines lines = linesOf(message);
  if (first.starts_with("Output code")) lines.erase(lines.begin());
  if (!lines.empty()) add(message, "inductor_output_code", Json{{"filename", "output_code.py"}}, lines);
}

void RecordWriter::start(const PrintedMessage& message) {
  const std::string_view text = trimmedText(message.lines.front());
  constexpr std::string_view mark = "start tracing ";
  const std::size_t at = text.find(mark);
  if (at == text.npos) return;
  const std::string_view rest = text.substr(at + mark.size());
  if (const std::size_t blank = rest.find(' '); blank != rest.npos)
    addStart(message, rest.substr(0, blank), rest.substr(blank + 1));
}

/// Kept as it stands, but for graphs, which are read as such.
void RecordWriter::other(const PrintedMessage& message) {
  const std::string& name = message.artifact;
  if (name.empty() || name == "step" || name == "dynamic" || name.ends_with("graph") || name.ends_with("graphs") ||
      name.find("graph_") != std::string::npos || message.id.text().empty())
    return;
  add(message, "artifact", Json{{"name", name}, {"encoding", "string"}}, linesOf(message));
}

void RecordWriter::write(const PrintedMessage& message) {
  struct Row {
    std::string_view artifact;
    void (RecordWriter::*write)(const PrintedMessage&);
  };
  static constexpr std::array rows{Row{"graph_breaks", &RecordWriter::graphBreak},
                                   Row{"recompiles", &RecordWriter::recompile},
                                   Row{"recompiles_verbose", &RecordWriter::recompile},
                                   Row{"limit", &RecordWriter::limit},
                                   Row{"guards", &RecordWriter::guards},
                                   Row{"verbose_guards", &RecordWriter::guards},
                                   Row{"dynamic", &RecordWriter::size},
                                   Row{"output_code", &RecordWriter::code},
                                   Row{"start", &RecordWriter::start}};
  const auto row = std::ranges::find(rows, message.artifact, &Row::artifact);
  if (row == rows.end()) return other(message);
  (this->*row->write)(message);
}

}  // namespace

LogRecords logRecords(const std::vector<PrintedMessage>& messages) { return RecordWriter().run(messages); }

void addGraphRecord(const GraphOrigin& origin, LogRecords& made) {
  RecordWriter writer;
  writer.m_made = std::move(made);
  PrintedMessage message;
  message.id = compileNumbers(origin.compileId);
  message.rank = origin.rank;
  message.line = origin.line;
  writer.add(message, origin.stage.empty() ? "dynamo_output_graph" : origin.stage, nlohmann::ordered_json::object());
  made = std::move(writer.m_made);
}

}  // namespace kerf::inline capture::trace
