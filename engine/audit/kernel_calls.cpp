// WrapperRun: calls of generated kernels.
#include <algorithm>

#include <fmt/format.h>

#include "engine/audit/wrapper_run.h"

namespace kerf::inline audit {

bool WrapperRun::kernelCall(const SyntaxNode& node) {
  std::string name = node.callee();
  if (name.ends_with(".run")) name.resize(name.size() - 4);
  const auto found = m_program.kernels.find(name);
  if (found == m_program.kernels.end()) return false;
  const KernelModel& kernel = found->second;
  ++m_calls;
  m_arguments.clear();
  std::vector<BoundParameter> bound(kernel.parameters.size());
  launch(kernel, node, bound);
  remarks(kernel, bound, node.line);
  claimOrdered(node, bound, kernel);
  if (!kernel.opaque.empty()) {
    opaqueCall(kernel, node, bound);
    noteStream(node, bound, kernel);
    return true;
  }
  for (std::size_t i = 0; i < kernel.accesses.size(); ++i) access(kernel, i, node, bound);
  noteStream(node, bound, kernel);
  std::vector<AccessForm> forms(kernel.accesses.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    AccessForm local;
    forms[i] = formOf(kernel, i, bound, local);
  }
  claimOrder(kernel, node, bound, forms);
  return true;
}

WrapperValue* WrapperRun::touched(const std::string& name) {
  const auto found = m_state.names.find(name);
  return found == m_state.names.end() || !found->second.isTensor() ? nullptr : &found->second;
}

/// Arguments to parameters: how many, of which types, and the sizes that the kernel fixes itself.
void WrapperRun::launch(const KernelModel& kernel, const SyntaxNode& node, std::vector<BoundParameter>& bound) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const KernelParameter& parameter = kernel.parameters[i];
    if (parameter.isConstexpr && kernel.language == KernelModel::Language::Triton) continue;
    if (next >= node.argumentCount() || !node.keywords[next].empty()) {
      if (kernel.opaque.empty())
        refute(ClaimAbout::Launch, node.line, kernel.line, kernel.name,
               fmt::format("the call gives nothing for {}", parameter.name));
      return;
    }
    const SyntaxNode& argument = node.argument(next++);
    WrapperValue value = evaluate(argument);
    if (!parameter.isPointer) {
      if (value.kind == WrapperValue::Kind::Size) bound[i].size = value.size;
      const auto fixed = kernel.fixedSizes.find(int(i));
      if (fixed != kernel.fixedSizes.end() && value.kind == WrapperValue::Kind::Size)
        settle(ClaimAbout::Launch, alwaysHolds(SymRelation::Eq, value.size, fixed->second), node.line,
               fmt::format("{} of {}", parameter.name, kernel.name),
               fmt::format("the call gives {}, and the kernel is made for {}", sizeText(value.size), fixed->second));
      continue;
    }
    if (!value.isTensor()) {
      if (kernel.opaque.empty() && !value.name.empty() && !m_state.deleted.contains(value.name))
        unknown(ClaimAbout::Launch, node.line, fmt::format("{} of {}", parameter.name, kernel.name),
                "what the call gives is no buffer that is known");
      continue;
    }
    bound[i].name = argument.is(SyntaxKind::Name) ? argument.text : value.name;
    const std::string subject = fmt::format("{} of {} ({})", parameter.name, kernel.name, bound[i].name);
    if (!parameter.type.empty() && !value.tensor.type.empty())
      settle(ClaimAbout::Type, parameter.type == value.tensor.type, node.line, subject,
             fmt::format("the kernel takes {}, and the buffer has {}", parameter.type, value.tensor.type));
    value.name = bound[i].name;
    m_arguments.push_back(std::make_unique<WrapperValue>(std::move(value)));
    bound[i].value = m_arguments.back().get();
  }
  if (!kernel.opaque.empty()) return;
  const bool hasMore = next < node.argumentCount() && node.keywords[next].empty();
  settle(ClaimAbout::Launch, !hasMore, node.line, kernel.name, "the call gives more than the kernel takes");
}

/// What a kernel on one stream is given must not have been written on another one of that device since the last wait.
void WrapperRun::claimOrdered(const SyntaxNode& node, const std::vector<BoundParameter>& bound,
                              const KernelModel& kernel) {
  const SyntaxNode* const keyword = node.keyword("stream");
  if (keyword == nullptr || !keyword->is(SyntaxKind::Name)) return;
  const std::string& stream = keyword->text;
  const auto deviceOf = [&](const std::string& name) {
    const auto found = m_streams.find(name);
    return found == m_streams.end() ? std::string() : found->second;
  };
  if (!m_guard.empty() && !deviceOf(stream).empty()) {
    if (deviceOf(stream) == m_guard)
      m_claims.proved(ClaimAbout::Ordered);
    else
      refute(ClaimAbout::Ordered, node.line, 0, kernel.name,
             fmt::format("it is launched on {}, a stream of device {}, while device {} is the current one", stream,
                         deviceOf(stream), m_guard));
  }
  for (const BoundParameter& each : bound) {
    if (each.value == nullptr) continue;
    AuditStorage& storage = m_state.storages[std::size_t(each.value->tensor.storage)];
    const bool isOther = !storage.stream.empty() && storage.stream != stream && storage.waits == m_waits &&
                         !deviceOf(stream).empty() && deviceOf(storage.stream) == deviceOf(stream);
    if (isOther)
      refute(ClaimAbout::Ordered, node.line, storage.lastWrite, fmt::format("{} of {}", each.name, kernel.name),
             fmt::format("it is used on {}, was written on {}, and nothing waits between", stream, storage.stream));
    else if (!storage.stream.empty() && storage.stream != stream)
      m_claims.proved(ClaimAbout::Ordered);
  }
}

/// After the kernel's accesses: what it has written was written on its stream.
void WrapperRun::noteStream(const SyntaxNode& node, const std::vector<BoundParameter>& bound,
                            const KernelModel& kernel) {
  const SyntaxNode* const keyword = node.keyword("stream");
  if (keyword == nullptr || !keyword->is(SyntaxKind::Name)) return;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (bound[i].value == nullptr || kernel.parameters[i].name.find("out") == std::string::npos) continue;
    AuditStorage& storage = m_state.storages[std::size_t(bound[i].value->tensor.storage)];
    storage.stream = keyword->text;
    storage.waits = m_waits;
  }
}

void WrapperRun::remarks(const KernelModel& kernel, const std::vector<BoundParameter>& bound, int line) {
  const bool isFirst = !std::exchange(m_remarked[&kernel], true);
  for (const KernelRemark& remark : kernel.remarks) {
    if (!kernel.opaque.empty() && remark.about != KernelRemark::About::Range) continue;
    if (remark.parameter >= 0 && !remark.holds) {
      // A buffer that is given twice is read through its other parameter.
      const WrapperValue* const mine = bound[std::size_t(remark.parameter)].value;
      const bool isTwice =
          mine != nullptr && std::ranges::count_if(bound, [&](const BoundParameter& each) {
                               return each.value != nullptr && each.value->tensor.storage == mine->tensor.storage;
                             }) > 1;
      if (isTwice) continue;
    }
    if (!isFirst) continue;
    static constexpr ClaimAbout abouts[] = {ClaimAbout::Mask, ClaimAbout::Sums, ClaimAbout::Atomic, ClaimAbout::Launch,
                                            ClaimAbout::Range};
    const ClaimAbout about = abouts[std::size_t(remark.about)];
    if (remark.holds)
      m_claims.proved(about);
    else
      refute(about, remark.line + kernel.firstLine, line, kernel.name, remark.text);
  }
}

/// Forms that no size of the call enters are made once.
const AccessForm& WrapperRun::formOf(const KernelModel& kernel, std::size_t index,
                                     const std::vector<BoundParameter>& bound, AccessForm& local) {
  const bool isFixed = std::ranges::all_of(kernel.parameters, [&](const KernelParameter& each) {
    const int i = int(&each - kernel.parameters.data());
    return each.isPointer || each.isConstexpr || kernel.fixedSizes.contains(i);
  });
  std::vector<std::optional<AccessForm>>& forms = m_forms[&kernel];
  forms.resize(kernel.accesses.size());
  if (isFixed && forms[index]) return *forms[index];
  FormBuilder builder(kernel, [&](int parameter) { return bound[std::size_t(parameter)].size; });
  AccessForm form = builder.build(kernel.accesses[index]);
  if (!isFixed) {
    local = std::move(form);
    return local;
  }
  forms[index] = std::move(form);
  return *forms[index];
}

void WrapperRun::access(const KernelModel& kernel, std::size_t index, const SyntaxNode& node,
                        std::vector<BoundParameter>& bound) {
  const KernelAccess& access = kernel.accesses[index];
  BoundParameter& parameter = bound[std::size_t(access.parameter)];
  if (parameter.value == nullptr) return;
  WrapperValue& value = *parameter.value;
  AuditStorage& storage = m_state.storages[std::size_t(value.tensor.storage)];
  const bool isLoad = access.kind == KernelAccess::Kind::Load;
  const std::string subject =
      fmt::format("{} of {} ({})", kernel.parameters[std::size_t(access.parameter)].name, kernel.name, parameter.name);
  const int line = node.line;
  const int inside = kernel.firstLine + access.line;
  AccessForm local;
  const AccessForm& form = formOf(kernel, index, bound, local);
  if (form.isNever) return;
  if (!form.unknown.empty()) {
    unknown(ClaimAbout::Inside, inside, subject, form.unknown);
    if (access.kind == KernelAccess::Kind::Store) {
      storage.written.blur();
      storage.mayBeWritten = true;
      storage.lastWrite = line;
      storage.unreadSince = line;
      storage.unreadBy = kernel.name;
    } else {
      storage.unreadSince = 0;
    }
    return;
  }
  if (!storage.count) (void)hasLayout(value.tensor);
  claimRange(access, form, inside, subject);
  claimInside(value.tensor, form.lowest + value.tensor.offset, form.highest + value.tensor.offset, form.isExact, inside,
              subject);
  Touch touch{&value, form.box().shifted(value.tensor.offset), subject, line, form.isExact, form.hasData, std::nullopt};
  if (!form.isExact)
    touch.around = ElementBox::interval(form.lowest + value.tensor.offset, form.highest - form.lowest + 1);
  if (touch.box.isEmpty()) return;
  if (isLoad) return read(touch);
  if (access.kind == KernelAccess::Kind::Atomic) {
    read(touch);
    return write(touch, false);
  }
  claimOnce(kernel, access, form, inside, subject);
  write(touch, true);
}

/// A store must be at another element in each iteration.
void WrapperRun::claimOnce(const KernelModel& kernel, const KernelAccess& access, const AccessForm& form, int line,
                           const std::string& subject) {
  (void)access;
  if (std::ranges::any_of(form.digits, [](const FormDigit& digit) { return digit.variable < 0; }))
    return unknown(ClaimAbout::Once, line, subject,
                   form.hasData ? "data says where it writes" : "the index is no sum of steps");
  // One iteration after the other may put something at the same place: the last one counts.
  const bool isParallel = std::ranges::any_of(form.digits, [&](const FormDigit& digit) {
    return kernel.variables[std::size_t(digit.variable)].kind == KernelVariable::Kind::Parallel &&
           !isSameSize(digit.count, 1);
  });
  if (!isParallel) return m_claims.proved(ClaimAbout::Once);
  const bool isPut =
      kernel.name.find("index_put") != std::string::npos || kernel.name.find("scatter") != std::string::npos;
  for (const FormDigit& digit : form.digits) {
    const KernelVariable& variable = kernel.variables[std::size_t(digit.variable)];
    if (!isSameSize(digit.stride, 0) || isSameSize(digit.count, 1)) continue;
    if (alwaysHolds(SymRelation::Gt, digit.count, 1) != true)
      return unknown(ClaimAbout::Once, line, subject, "the sizes do not decide it");
    if (isPut) return unknown(ClaimAbout::Once, line, subject, "it may put several values at one place");
    return refute(ClaimAbout::Once, line, line, subject,
                  fmt::format("iterations that differ in {} write the same element", variable.name),
                  fmt::format("{} = 0 and {} = 1", variable.name, variable.name));
  }
  ElementBox steps{0, {}};
  for (const FormDigit& digit : form.digits) steps.steps.push_back({digit.stride, digit.count});
  for (BoxStep& step : steps.steps)
    if (isAlways(SymRelation::Lt, step.stride, 0)) step.stride = -step.stride;
  steps.normalise();
  const auto isInjective = steps.isInjective();
  if (isInjective == false && (isPut || !form.isExact))
    return unknown(ClaimAbout::Once, line, subject, "the conditions under which it happens are not decided");
  settle(ClaimAbout::Once, isInjective, line, subject, "two iterations write the same element");
}

/// What one iteration writes another one must not read, of the same nest of loops.
void WrapperRun::claimOrder(const KernelModel& kernel, const SyntaxNode& node, const std::vector<BoundParameter>& bound,
                            const std::vector<AccessForm>& forms) {
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const KernelAccess& store = kernel.accesses[i];
    const WrapperValue* const target = bound[std::size_t(store.parameter)].value;
    if (store.kind != KernelAccess::Kind::Store || target == nullptr || !forms[i].unknown.empty() || forms[i].isNever)
      continue;
    for (std::size_t j = 0; j < forms.size(); ++j) {
      const KernelAccess& load = kernel.accesses[j];
      const WrapperValue* const source = bound[std::size_t(load.parameter)].value;
      if (load.kind != KernelAccess::Kind::Load || source == nullptr ||
          source->tensor.storage != target->tensor.storage || load.nest != store.nest || !forms[j].unknown.empty() ||
          forms[j].isNever)
        continue;
      claimApart(
          kernel, {&store, &forms[i], target->tensor.offset}, {&load, &forms[j], source->tensor.offset}, node,
          fmt::format("{} of {} ({})", kernel.parameters[std::size_t(load.parameter)].name, kernel.name, source->name));
    }
  }
}

void WrapperRun::claimApart(const KernelModel& kernel, const PlacedForm& store, const PlacedForm& load,
                            const SyntaxNode& node, const std::string& subject) {
  // By parallel axis and part of it: the strides of both.
  std::map<std::pair<int, int>, std::pair<SymInt, SymInt>> strides;
  const auto collect = [&](const PlacedForm& placed, bool isStore) {
    SymInt reach = 0;
    for (const FormDigit& digit : placed.form->digits) {
      const bool isParallel =
          digit.variable >= 0 && kernel.variables[std::size_t(digit.variable)].kind == KernelVariable::Kind::Parallel;
      if (!isParallel) {
        reach += (isAlways(SymRelation::Lt, digit.stride, 0) ? -digit.stride : digit.stride) * (digit.count - 1);
        continue;
      }
      if (isSameSize(digit.count, 1)) continue;
      auto& both = strides[{digit.variable, digit.part}];
      (isStore ? both.first : both.second) = digit.stride;
    }
    return reach;
  };
  const SymInt storeReach = collect(store, true), loadReach = collect(load, false);
  if (strides.empty()) return m_claims.proved(ClaimAbout::Once);
  const SymInt from = store.form->first + store.offset, to = load.form->first + load.offset;
  const bool isSame =
      std::ranges::all_of(strides, [](const auto& each) { return isSameSize(each.second.first, each.second.second); });
  const auto meet = boxesMeet(store.form->box().shifted(store.offset), load.form->box().shifted(load.offset));
  if (meet.holds == false) return m_claims.proved(ClaimAbout::Once);
  if (isSame) {
    // Rows of different iterations lie apart, if what one of them spans fits between them.
    SymInt least = strides.begin()->second.first;
    for (const auto& [key, both] : strides)
      if (isAlways(SymRelation::Lt, both.first, least)) least = both.first;
    const SymInt distance = isAlways(SymRelation::Lt, to, from) ? from - to : to - from;
    const SymInt reach = isAlways(SymRelation::Lt, storeReach, loadReach) ? loadReach : storeReach;
    const bool isWholly = storeReach.isIdentical(0) && loadReach.isIdentical(0);
    if (isAlways(SymRelation::Lt, distance + reach, least) ||
        (isSameSize(from, to) && isSameSize(storeReach, loadReach)))
      return m_claims.proved(ClaimAbout::Once);
    if (meet.holds == true && isWholly && store.form->isExact && load.form->isExact)
      return refute(
          ClaimAbout::Once, kernel.firstLine + load.access->line, kernel.firstLine + store.access->line, subject,
          fmt::format("one iteration reads what another one writes: they are {} elements apart", sizeText(distance)),
          fmt::format("element {}", meet.element));
  }
  (void)node;
  unknown(ClaimAbout::Once, kernel.firstLine + load.access->line, subject,
          "whether iterations read what others write is not decided");
}

void WrapperRun::opaqueCall(const KernelModel& kernel, const SyntaxNode& node, std::vector<BoundParameter>& bound) {
  unknown(ClaimAbout::Inside, node.line, kernel.name, kernel.opaque);
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (bound[i].value == nullptr) continue;
    AuditStorage& storage = m_state.storages[std::size_t(bound[i].value->tensor.storage)];
    storage.unreadSince = 0;
    storage.mayBeWritten = true;
    if (kernel.parameters[i].isConst || storage.isInput) continue;
    storage.written.blur();
    storage.lastWrite = node.line;
  }
  // What it is given without a signature may be anything.
  for (std::size_t i = 0; i < node.argumentCount(); ++i)
    if (WrapperValue* const value = node.argument(i).is(SyntaxKind::Name) ? touched(node.argument(i).text) : nullptr) {
      AuditStorage& storage = m_state.storages[std::size_t(value->tensor.storage)];
      storage.written.blur();
      storage.mayBeWritten = true;
      storage.unreadSince = 0;
    }
}

}  // namespace kerf::inline audit
