#include "engine/audit/wrapper_run.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace kerf::inline audit {
namespace {

constexpr int deepestCalls = 16;

bool isSymbolName(std::string_view name) {
  return name.size() >= 2 && (name[0] == 's' || name[0] == 'u') &&
         std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

/// "buf12", "arg0_1", "primals_3": names that only values of the program have.
bool isBufferName(std::string_view name) {
  for (const std::string_view prefix : {"buf", "arg", "primals_", "tangents_"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    if (!rest.empty() && std::ranges::all_of(rest, [](char c) { return (c >= '0' && c <= '9') || c == '_'; }))
      return true;
  }
  return false;
}

}  // namespace

bool WrapperRun::run(const std::function<bool(double)>& progress) {
  m_progress = &progress;
  m_statements = std::max<std::size_t>(1, m_program.call->items[1].items.size());
  WrapperValue none;
  (void)block(m_program.call->items[1]);
  return !m_isStopped;
}

void WrapperRun::unknown(ClaimAbout about, int line, std::string subject, std::string reason) {
  m_claims.add({about, ClaimVerdict::NotKnown, line, 0, std::move(subject), std::move(reason), {}});
}

void WrapperRun::refute(ClaimAbout about, int line, int other, std::string subject, std::string reason,
                        std::string example) {
  m_claims.add({about, ClaimVerdict::Refuted, line, other, std::move(subject), std::move(reason), std::move(example)});
}

void WrapperRun::settle(ClaimAbout about, std::optional<bool> holds, int line, const std::string& subject,
                        const std::string& reason) {
  if (holds == true)
    m_claims.proved(about);
  else if (holds == false)
    refute(about, line, 0, subject, reason);
  else
    unknown(about, line, subject, "the sizes do not decide it");
}

bool WrapperRun::block(const SyntaxNode& node) {
  for (const SyntaxNode& each : node.items) {
    if (m_hasReturned || m_isStopped) return false;
    ++m_statement;
    if (m_depth == 0 && m_progress != nullptr && *m_progress && ++m_done % 64 == 0)
      m_isStopped = !(*m_progress)(std::min(1.0, double(m_done) / double(m_statements)));
    statement(each);
  }
  return true;
}

void WrapperRun::statement(const SyntaxNode& node) {
  switch (node.kind) {
    case SyntaxKind::Assign:
      return assign(node);
    case SyntaxKind::Expression:
      return expressionStatement(node);
    case SyntaxKind::Delete:
      return remove(node);
    case SyntaxKind::If:
      return condition(node);
    case SyntaxKind::Return:
      return give(node);
    case SyntaxKind::With:
      return guarded(node);
    case SyntaxKind::Block:
      (void)block(node);
      return;
    case SyntaxKind::Import:
    case SyntaxKind::Pragma:
      return;
    case SyntaxKind::Define:
      return;
    default:
      unknown(ClaimAbout::Written, node.line, "the statement",
              node.text.empty() ? "it is of a kind that is not known" : node.text);
      for (AuditStorage& each : m_state.storages) each.written.blur();
  }
}

void WrapperRun::bind(const std::string& name, WrapperValue value) {
  value.name = name;
  value.since = ++m_time;
  if (value.isTensor()) m_state.storages[std::size_t(value.tensor.storage)].lastUse = m_statement;
  m_state.deleted.erase(name);
  m_state.names[name] = std::move(value);
}

void WrapperRun::bindInputs(const SyntaxNode& target) {
  const std::vector<SyntaxNode> one{target};
  for (const SyntaxNode& each : target.is(SyntaxKind::Tuple) ? target.items : one) {
    WrapperValue value;
    const auto example = m_program.examples.find(each.text);
    if (example != m_program.examples.end() && example->second.number) {
      value.kind = WrapperValue::Kind::Unknown;
    } else {
      value.kind = WrapperValue::Kind::Tensor;
      value.tensor.storage = int(m_state.storages.size());
      AuditStorage storage;
      storage.name = each.text;
      storage.isInput = true;
      storage.line = each.line;
      storage.written.addAll();
      if (example != m_program.examples.end()) value.tensor.type = storage.type = example->second.type;
      m_state.storages.push_back(std::move(storage));
    }
    bind(each.text, std::move(value));
  }
}

void WrapperRun::assign(const SyntaxNode& node) {
  const SyntaxNode& target = node.items[0];
  const SyntaxNode& from = node.items[1];
  if (from.isName("args") && !m_isInputsBound) {
    m_isInputsBound = true;
    return bindInputs(target);
  }
  if (target.is(SyntaxKind::Name) && isSymbolName(target.text)) {
    WrapperValue size;
    size.kind = WrapperValue::Kind::Size;
    const auto known = sizeOf(from);
    if (!known) (void)evaluate(from);  // buf0.item() reads
    size.size = known ? *known : m_symbols(target.text, from.is(SyntaxKind::Name) ? from.text : std::string());
    if (from.is(SyntaxKind::Name) && !known)
      if (const auto input = m_state.names.find(from.text); input != m_state.names.end()) {
        input->second.kind = WrapperValue::Kind::Size;
        input->second.size = size.size;
      }
    return bind(target.text, std::move(size));
  }
  if (target.is(SyntaxKind::Name) && from.callee() == "get_raw_stream" && from.argumentCount() == 1)
    m_streams[target.text] = from.argument(0).text;
  WrapperValue value = evaluate(from);
  if (target.is(SyntaxKind::Tuple)) {
    for (std::size_t i = 0; i < target.items.size(); ++i)
      bind(target.items[i].text, value.items && i < value.items->size() ? (*value.items)[i] : WrapperValue());
    return;
  }
  if (!target.is(SyntaxKind::Name)) return;
  if (const auto before = m_state.names.find(target.text); before != m_state.names.end())
    loseName(target.text, node.line);
  const bool isWork = value.kind != WrapperValue::Kind::None;
  bind(target.text, std::move(value));
  if (!isWork) return;
  m_lastWork = m_statement;
  m_lastWorkLine = node.line;
}

void WrapperRun::expressionStatement(const SyntaxNode& node) {
  const SyntaxNode& value = node.items[0];
  const std::string callee = value.callee();
  static constexpr std::array<std::string_view, 6> idle = {
      "args.clear",           "torch.cuda.set_device",  "assert_alignment",
      "torch.xpu.set_device", "torch.cuda.synchronize", "nvtx"};
  if (std::ranges::find(idle, callee) != idle.end()) return;
  if (callee == "assert_size_stride") return assertLayout(value);
  if (callee.find("wait") != std::string::npos || callee.find("synchronize") != std::string::npos) ++m_waits;
  m_lastWork = m_statement;
  m_lastWorkLine = node.line;
  if (value.is(SyntaxKind::Call) && kernelCall(value)) return;
  (void)evaluate(value);
}

void WrapperRun::loseName(const std::string& name, int line) {
  const auto found = m_state.names.find(name);
  if (found == m_state.names.end()) return;
  const WrapperValue value = std::move(found->second);
  m_state.names.erase(found);
  if (!value.isTensor()) return;
  const bool isShared = std::ranges::any_of(m_state.names, [&](const auto& each) {
    return each.second.isTensor() && each.second.tensor.storage == value.tensor.storage;
  });
  AuditStorage& storage = m_state.storages[std::size_t(value.tensor.storage)];
  if (isShared || storage.isInput || storage.isScratch) return;
  if (storage.unreadSince != 0)
    refute(ClaimAbout::Used, storage.unreadSince, line, value.name,
           fmt::format("{} writes it, and nothing reads that before it is deleted", storage.unreadBy));
  else
    m_claims.proved(ClaimAbout::Used);
  storage.unreadSince = 0;
}

void WrapperRun::remove(const SyntaxNode& node) {
  for (const SyntaxNode& each : node.items) {
    if (!each.is(SyntaxKind::Name)) continue;
    const auto found = m_state.names.find(each.text);
    if (found == m_state.names.end()) {
      const auto before = m_state.deleted.find(each.text);
      if (before != m_state.deleted.end())
        refute(ClaimAbout::Alive, node.line, before->second, each.text, "it is deleted twice");
      else if (isBufferName(each.text))
        refute(ClaimAbout::Alive, node.line, 0, each.text, "no value has this name");
      continue;
    }
    if (found->second.isTensor() && m_branches == 0 && !m_hasPools) {
      const AuditStorage& storage = m_state.storages[std::size_t(found->second.tensor.storage)];
      if (storage.lastUse < m_lastWork)
        refute(ClaimAbout::Used, m_lastWorkLine, node.line, each.text,
               storage.lastLine == 0
                   ? "nothing uses it, although it is kept until here"
                   : fmt::format("it is kept until here, although nothing after line {} uses it", storage.lastLine));
      else
        m_claims.proved(ClaimAbout::Used);
    }
    loseName(each.text, node.line);
    m_state.deleted[each.text] = node.line;
  }
}

/// with torch.cuda._DeviceGuard(0): …
void WrapperRun::guarded(const SyntaxNode& node) {
  const SyntaxNode& guard = node.items[0];
  const bool isDevice = guard.callee().ends_with("DeviceGuard") && guard.argumentCount() == 1;
  (void)evaluate(guard);
  std::string before = m_guard;
  if (isDevice) m_guard = guard.argument(0).text;
  (void)block(node.items[1]);
  m_guard = std::move(before);
}

/// Both branches are gone through; what either of them deletes is gone.
void WrapperRun::condition(const SyntaxNode& node) {
  (void)evaluate(node.items[0]);
  const AuditState before = m_state;
  m_hasBranched = true;
  ++m_branches;
  (void)block(node.items[1]);
  --m_branches;
  if (node.items.size() < 3) return;
  ++m_branches;
  AuditState first = std::exchange(m_state, before);
  const bool hasReturned = std::exchange(m_hasReturned, false);
  (void)block(node.items[2]);
  --m_branches;
  m_hasReturned = m_hasReturned && hasReturned;
  for (const auto& [name, line] : first.deleted)
    if (m_state.names.erase(name) > 0) m_state.deleted[name] = line;
}

void WrapperRun::give(const SyntaxNode& node) {
  m_hasReturned = true;
  m_returned = WrapperValue();
  if (node.items.empty()) return;
  m_returned = evaluate(node.items[0]);
  m_returned.kind = WrapperValue::Kind::Tuple;
  if (!m_returned.items) m_returned.items = std::make_shared<std::vector<WrapperValue>>();
  if (m_depth > 0) return;
  m_returnLine = node.line;
  for (std::size_t i = 0; i < m_returned.items->size(); ++i) {
    WrapperValue& each = (*m_returned.items)[i];
    if (each.isTensor()) readWhole(each, node.line, fmt::format("result {} ({})", i, each.name));
  }
  finish(node.line);
}

void WrapperRun::finish(int line) {
  for (AuditStorage& storage : m_state.storages) {
    if (storage.isInput || storage.isScratch || storage.unreadSince == 0) continue;
    refute(ClaimAbout::Used, storage.unreadSince, line, storage.name,
           fmt::format("{} writes it, and nothing reads or returns that", storage.unreadBy));
    storage.unreadSince = 0;
  }
}

WrapperValue WrapperRun::named(const SyntaxNode& node) {
  WrapperValue value;
  if (node.text == "None") {
    value.kind = WrapperValue::Kind::None;
    return value;
  }
  const auto found = m_state.names.find(node.text);
  if (found != m_state.names.end()) {
    if (found->second.isTensor()) m_claims.proved(ClaimAbout::Alive);
    if (found->second.isTensor()) {
      for (int at = found->second.tensor.storage; at >= 0; at = m_state.storages[std::size_t(at)].viewOf) {
        m_state.storages[std::size_t(at)].lastUse = m_statement;
        m_state.storages[std::size_t(at)].lastLine = node.line;
      }
    }
    return found->second;
  }
  value.name = node.text;
  if (const auto gone = m_state.deleted.find(node.text); gone != m_state.deleted.end())
    refute(ClaimAbout::Alive, node.line, gone->second, node.text,
           fmt::format("it was deleted in line {}", gone->second));
  else if (isBufferName(node.text) && !m_program.globals.contains(node.text))
    refute(ClaimAbout::Alive, node.line, 0, node.text, "no value has this name yet");
  return value;
}

WrapperValue WrapperRun::evaluate(const SyntaxNode& node) {
  WrapperValue value;
  switch (node.kind) {
    case SyntaxKind::Name:
      return named(node);
    case SyntaxKind::Tuple: {
      value.kind = WrapperValue::Kind::Tuple;
      value.items = std::make_shared<std::vector<WrapperValue>>();
      for (const SyntaxNode& each : node.items) value.items->push_back(evaluate(each));
      return value;
    }
    case SyntaxKind::Item:
      return itemOf(node);
    case SyntaxKind::Call:
      return evaluateCall(node);
    default:
      if (const auto size = sizeOf(node)) {
        value.kind = WrapperValue::Kind::Size;
        value.size = *size;
      }
      return value;
  }
}

WrapperValue WrapperRun::itemOf(const SyntaxNode& node) {
  WrapperValue base = evaluate(node.items[0]);
  const auto index = node.items.size() == 2 ? node.items[1].integer() : std::nullopt;
  if (!index || *index < 0 || *index > 4096) return {};
  if (base.items && std::size_t(*index) < base.items->size()) return (*base.items)[std::size_t(*index)];
  if (node.items[0].is(SyntaxKind::Name) && base.kind == WrapperValue::Kind::Tensor)
    return newResult(fmt::format("{}[{}]", node.items[0].text, *index), node.line);
  return {};
}

std::optional<SymInt> WrapperRun::sizeOf(const SyntaxNode& node) {
  if (const auto number = node.integer()) return SymInt(*number);
  if (node.is(SyntaxKind::Name)) {
    const auto found = m_state.names.find(node.text);
    if (found == m_state.names.end() || found->second.kind != WrapperValue::Kind::Size) return std::nullopt;
    return found->second.size;
  }
  if (node.is(SyntaxKind::Unary) && node.text == "-") {
    const auto inner = sizeOf(node.items[0]);
    return inner ? std::optional(-*inner) : std::nullopt;
  }
  if (node.is(SyntaxKind::Call) && node.argumentCount() == 2) {
    const std::string callee = node.callee();
    const bool isMax = callee == "max" || callee == "Max", isMin = callee == "min" || callee == "Min";
    if (!isMax && !isMin) return std::nullopt;
    const auto a = sizeOf(node.argument(0)), b = sizeOf(node.argument(1));
    return a && b ? std::optional(isMax ? symMax(*a, *b) : symMin(*a, *b)) : std::nullopt;
  }
  if (!node.is(SyntaxKind::Binary)) return std::nullopt;
  const auto a = sizeOf(node.items[0]), b = sizeOf(node.items[1]);
  if (!a || !b) return std::nullopt;
  if (node.text == "+") return *a + *b;
  if (node.text == "-") return *a - *b;
  if (node.text == "*") return *a * *b;
  if ((node.text == "//" || node.text == "%") && !isSameSize(*b, 0))
    return node.text == "%" ? floorMod(*a, *b) : floorDiv(*a, *b);
  return std::nullopt;
}

std::optional<std::vector<SymInt>> WrapperRun::sizesOf(const SyntaxNode& node) {
  std::vector<SymInt> sizes;
  if (!node.is(SyntaxKind::Tuple)) return std::nullopt;
  for (const SyntaxNode& each : node.items) {
    const auto size = sizeOf(each);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

WrapperValue WrapperRun::evaluateCall(const SyntaxNode& node) {
  const std::string callee = node.callee();
  struct Form {
    std::string_view prefix;
    WrapperValue (WrapperRun::*read)(const SyntaxNode&);
  };
  static constexpr std::array<Form, 4> forms = {{{"empty_strided", &WrapperRun::allocate},
                                                 {"torch.empty_strided", &WrapperRun::allocate},
                                                 {"alloc_from_pool", &WrapperRun::allocate},
                                                 {"reinterpret_tensor", &WrapperRun::reinterpret}}};
  for (const Form& form : forms)
    if (callee.starts_with(form.prefix)) return (this->*form.read)(node);
  if (auto result = callFunction(node)) return *result;
  if (callee == "get_raw_stream" || callee.starts_with("torch.cuda.")) return {};
  if (const auto size = sizeOf(node)) {
    WrapperValue value;
    value.kind = WrapperValue::Kind::Size;
    value.size = *size;
    return value;
  }
  return externCall(node);
}

/// A function of the program itself: a branch, or a partition.
std::optional<WrapperValue> WrapperRun::callFunction(const SyntaxNode& node) {
  std::string name = node.callee();
  const SyntaxNode& callee = node.items[0];
  if (callee.is(SyntaxKind::Item) && callee.items[0].dotted() == "self.partitions") {
    const auto index = callee.items.size() == 2 ? callee.items[1].integer() : std::nullopt;
    if (index && *index >= 0 && std::size_t(*index) < m_program.partitions.size())
      name = m_program.partitions[std::size_t(*index)];
  }
  const auto function = m_program.functions.find(name);
  if (function == m_program.functions.end() || function->second->items.size() < 2 || node.argumentCount() != 1)
    return std::nullopt;
  return runFunction(*function->second, evaluate(node.argument(0)));
}

WrapperValue WrapperRun::runFunction(const SyntaxNode& function, WrapperValue arguments) {
  if (m_depth >= deepestCalls) return {};
  ++m_depth;
  // Names of the caller stay alive outside; the function's own begin with its arguments.
  Names outer = std::exchange(m_state.names, {});
  std::map<std::string, int, std::less<>> deleted = std::exchange(m_state.deleted, {});
  for (auto& [name, value] : outer)
    if (value.kind == WrapperValue::Kind::Size || value.isTensor()) m_state.names["caller's " + name] = value;
  for (const auto& [name, value] : outer)
    if (value.kind == WrapperValue::Kind::Size) m_state.names[name] = value;
  const bool hasReturned = std::exchange(m_hasReturned, false);
  for (const SyntaxNode& each : function.items[1].items) {
    const bool takesArguments = each.is(SyntaxKind::Assign) && each.items[1].isName("args");
    if (!takesArguments) {
      (void)block({SyntaxKind::Block, {}, {each}, {}, each.line});
      continue;
    }
    const std::vector<SyntaxNode> one{each.items[0]};
    const std::vector<SyntaxNode>& names = each.items[0].is(SyntaxKind::Tuple) ? each.items[0].items : one;
    for (std::size_t i = 0; i < names.size(); ++i)
      bind(names[i].text, arguments.items && i < arguments.items->size() ? (*arguments.items)[i] : WrapperValue());
  }
  WrapperValue result = std::exchange(m_returned, WrapperValue());
  m_hasReturned = hasReturned;
  m_state.names = std::move(outer);
  m_state.deleted = std::move(deleted);
  --m_depth;
  return result;
}

}  // namespace kerf::inline audit
