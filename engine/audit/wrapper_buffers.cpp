// WrapperRun: allocations, views and assertions of layouts.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/audit/wrapper_run.h"

namespace kerf::inline audit {
namespace {

std::string sizesText(const std::vector<SymInt>& sizes) {
  std::string text = "(";
  for (const SymInt& each : sizes) text += (text.size() > 1 ? ", " : "") + sizeText(each);
  return text + ')';
}

/// Elements that a layout spans; 0 where a size is 0.
SymInt spanOfLayout(const std::vector<SymInt>& sizes, const std::vector<SymInt>& strides) {
  SymInt last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (isSameSize(sizes[i], 0)) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

/// As many strides as sizes, and numbers that can be counted with: a text may have any.
bool isLayout(const std::optional<std::vector<SymInt>>& sizes, const std::optional<std::vector<SymInt>>& strides) {
  constexpr double most = 1e18;
  if (!sizes || !strides || sizes->size() != strides->size()) return false;
  double count = 1, span = 0;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const double size = (*sizes)[i].isSymbolic() ? 1 : double((*sizes)[i].bits());
    const double stride = (*strides)[i].isSymbolic() ? 1 : double((*strides)[i].bits());
    if (size < 0) return false;
    count *= std::max(size, 1.0);
    span += size * std::abs(stride);
  }
  return count < most && span < most;
}

}  // namespace

WrapperValue WrapperRun::allocate(const SyntaxNode& node) {
  WrapperValue value;
  value.kind = WrapperValue::Kind::Tensor;
  const bool isPool = node.callee() == "alloc_from_pool";
  const std::size_t at = isPool ? 3 : 0;
  m_hasPools = m_hasPools || isPool;
  if (isPool && node.argumentCount() > 0) {
    // Parts of a pool are storages of their own; whether they lie apart is not followed.
    if (const WrapperValue pool = evaluate(node.argument(0)); pool.isTensor())
      m_state.storages[std::size_t(pool.tensor.storage)].isScratch = true;
  }
  AuditStorage storage;
  storage.line = node.line;
  const SyntaxNode* const typeNode = node.keyword("dtype") != nullptr     ? node.keyword("dtype")
                                     : isPool && node.argumentCount() > 2 ? &node.argument(2)
                                     : node.argumentCount() > 2           ? &node.argument(2)
                                                                          : nullptr;
  if (typeNode != nullptr) storage.type = value.tensor.type = elementType(typeNode->dotted());
  const auto sizes = node.argumentCount() > at + 1 ? sizesOf(node.argument(at)) : std::nullopt;
  const auto strides = node.argumentCount() > at + 1 ? sizesOf(node.argument(at + 1)) : std::nullopt;
  if (isLayout(sizes, strides)) {
    value.tensor.sizes = *sizes;
    value.tensor.strides = *strides;
    value.tensor.hasLayout = true;
    storage.count = spanOfLayout(*sizes, *strides);
    settle(ClaimAbout::Layout, value.tensor.box().isInjective(), node.line, "an allocation",
           fmt::format("sizes {} with strides {} overlap themselves", sizesText(*sizes), sizesText(*strides)));
    if (value.tensor.box().isConcrete() && !value.tensor.box().isEmpty())
      settle(ClaimAbout::Layout, !value.tensor.box().hasWideGaps(), node.line, "an allocation",
             fmt::format("sizes {} with strides {} leave gaps that are no padding", sizesText(*sizes),
                         sizesText(*strides)));
  } else {
    unknown(ClaimAbout::Layout, node.line, "an allocation", "its sizes are not known");
  }
  value.tensor.storage = int(m_state.storages.size());
  m_state.storages.push_back(std::move(storage));
  return value;
}

/// What an operator returns: of it nothing is known but that all of it is there.
WrapperValue WrapperRun::newResult(const std::string& name, int line) {
  WrapperValue value;
  value.kind = WrapperValue::Kind::Tensor;
  value.name = name;
  value.tensor.storage = int(m_state.storages.size());
  AuditStorage storage;
  storage.name = name;
  storage.line = line;
  storage.written.addAll();
  m_state.storages.push_back(std::move(storage));
  return value;
}

/// Layouts of inputs that nothing asserts are those of the examples.
bool WrapperRun::hasLayout(AuditTensor& tensor) {
  if (tensor.hasLayout) return true;
  const AuditStorage& storage = m_state.storages[std::size_t(tensor.storage)];
  const auto example = m_program.examples.find(storage.name);
  if (!storage.isInput || !m_comparesExamples || example == m_program.examples.end() ||
      example->second.sizes == nullptr)
    return false;
  const auto sizes = sizesOf(*example->second.sizes), strides = sizesOf(*example->second.strides);
  if (!isLayout(sizes, strides)) return false;
  tensor.sizes = *sizes;
  tensor.strides = *strides;
  tensor.hasLayout = true;
  AuditStorage& input = m_state.storages[std::size_t(tensor.storage)];
  if (!input.count) input.count = spanOfLayout(*sizes, *strides) + tensor.offset;
  return true;
}

WrapperValue WrapperRun::reinterpret(const SyntaxNode& node) {
  WrapperValue value = node.argumentCount() > 0 ? evaluate(node.argument(0)) : WrapperValue();
  if (!value.isTensor() || node.argumentCount() < 4) return value;
  const auto sizes = sizesOf(node.argument(1)), strides = sizesOf(node.argument(2));
  const auto offset = sizeOf(node.argument(3));
  const std::string subject = fmt::format("a view of {}", value.name);
  if (!offset || !isLayout(sizes, strides)) {
    unknown(ClaimAbout::Inside, node.line, subject, "its sizes are not known");
    value.tensor.hasLayout = false;
    return value;
  }
  value.tensor.sizes = *sizes;
  value.tensor.strides = *strides;
  value.tensor.offset += *offset;
  value.tensor.hasLayout = true;
  const ElementBox box = value.tensor.box();
  if (box.isEmpty())
    m_claims.proved(ClaimAbout::Inside);
  else
    claimInside(value.tensor, box.first, box.last(), true, node.line, subject);
  return value;
}

void WrapperRun::assertLayout(const SyntaxNode& node) {
  if (node.argumentCount() < 3 || !node.argument(0).is(SyntaxKind::Name)) return;
  const auto found = m_state.names.find(node.argument(0).text);
  if (found == m_state.names.end() || !found->second.isTensor()) return;
  AuditTensor& tensor = found->second.tensor;
  AuditStorage& storage = m_state.storages[std::size_t(tensor.storage)];
  const auto sizes = sizesOf(node.argument(1)), strides = sizesOf(node.argument(2));
  const std::string& name = found->first;
  if (!isLayout(sizes, strides))
    return unknown(ClaimAbout::Layout, node.line, name, "the asserted sizes are not known");
  if (storage.isInput && m_comparesExamples) (void)hasLayout(tensor);
  if (storage.isInput && storage.assertedLine == 0 && storage.name == name) {
    storage.assertedLine = node.line;
    storage.assertedSizes = *sizes;
    storage.assertedStrides = *strides;
  }
  if (tensor.hasLayout) {
    bool isSame = tensor.sizes.size() == sizes->size(), isOpen = false;
    for (std::size_t i = 0; i < sizes->size() && isSame; ++i) {
      const auto size = alwaysHolds(SymRelation::Eq, tensor.sizes[i], (*sizes)[i]);
      const auto stride = isSameSize((*sizes)[i], 1) ? std::optional(true)
                                                     : alwaysHolds(SymRelation::Eq, tensor.strides[i], (*strides)[i]);
      isSame = size != false && stride != false;
      isOpen = isOpen || !size || !stride;
    }
    settle(ClaimAbout::Layout, isOpen && isSame ? std::nullopt : std::optional(isSame), node.line, name,
           fmt::format("sizes {} and strides {} are asserted, but it has {} and {}", sizesText(*sizes),
                       sizesText(*strides), sizesText(tensor.sizes), sizesText(tensor.strides)));
    return;
  }
  tensor.sizes = *sizes;
  tensor.strides = *strides;
  tensor.hasLayout = true;
  // What an operator of ATen returns lies apart from itself, unless it is spread out; products and convolutions leave no gaps.
  const bool isNamed = node.argumentCount() > 3 && node.argument(3).text.find("aten.") != std::string::npos;
  const bool isResult = (isNamed || storage.name.find("aten.") != std::string::npos) && !storage.isInput &&
                        storage.viewOf < 0 && tensor.box().isConcrete() && !tensor.box().isEmpty();
  const bool isSpread = std::ranges::any_of(*strides, [](SymInt each) { return isSameSize(each, 0); });
  if (isResult && !isSpread && tensor.box().isInjective() == false)
    refute(ClaimAbout::Layout, node.line, storage.line, name,
           fmt::format("sizes {} and strides {} are asserted of a result: they overlap themselves", sizesText(*sizes),
                       sizesText(*strides)));
  if (storage.name.find("convolution") != std::string::npos && tensor.box().isConcrete() && !tensor.box().isEmpty())
    settle(ClaimAbout::Layout, tensor.box().isInjective() == true && !tensor.box().hasWideGaps(), node.line, name,
           fmt::format("sizes {} and strides {} are asserted of a result that has no gaps", sizesText(*sizes),
                       sizesText(*strides)));
  if (!storage.count) storage.count = spanOfLayout(*sizes, *strides) + tensor.offset;
}

}  // namespace kerf::inline audit
