// WrapperRun: claims about boxes of elements that statements read and write.
#include <fmt/format.h>

#include "engine/audit/wrapper_run.h"

namespace kerf::inline audit {
namespace {

std::string elementText(const ElementSet::Answer& answer) { return fmt::format("element {}", answer.element); }

}  // namespace

void WrapperRun::claimInside(const AuditTensor& tensor, SymInt lowest, SymInt highest, bool isExact, int line,
                             const std::string& subject) {
  const AuditStorage& storage = m_state.storages[std::size_t(tensor.storage)];
  if (!storage.count) return unknown(ClaimAbout::Inside, line, subject, "the size of the buffer is not known");
  const auto above = alwaysHolds(SymRelation::Ge, lowest, 0);
  const auto below = alwaysHolds(SymRelation::Lt, highest, *storage.count);
  if (above == true && below == true) return m_claims.proved(ClaimAbout::Inside);
  if (isExact && (above == false || below == false)) {
    const bool isLow = above == false;
    return refute(ClaimAbout::Inside, line, storage.line, subject,
                  fmt::format("it reaches element {} of a buffer with {} elements", sizeText(isLow ? lowest : highest),
                              sizeText(*storage.count)),
                  fmt::format("element {}", sizeText(isLow ? lowest : highest)));
  }
  unknown(ClaimAbout::Inside, line, subject,
          isExact ? "the sizes do not decide it" : "the conditions under which it happens are not decided");
}

/// Sizes that are symbols are guarded where a kernel counts in 32 bits: only given sizes are judged.
void WrapperRun::claimRange(const KernelAccess& access, const AccessForm& form, int line, const std::string& subject) {
  if (access.indexType.empty()) return;
  constexpr std::int64_t most = 2147483647;
  const bool isWide = access.indexType == "int64" || access.indexType == "uint64";
  const auto fits = isWide ? std::optional(true) : alwaysHolds(SymRelation::Le, form.highest, most);
  if (fits == true) return m_claims.proved(ClaimAbout::Range);
  if (fits == false && form.isExact && access.indexType == "int32")
    refute(ClaimAbout::Range, line, 0, subject,
           fmt::format("its index is computed in int32, and reaches {}", sizeText(form.highest)),
           fmt::format("element {}", sizeText(form.highest)));
}

void WrapperRun::read(const Touch& touch) {
  const WrapperValue& value = *touch.value;
  AuditStorage& storage = m_state.storages[std::size_t(value.tensor.storage)];
  storage.unreadSince = 0;
  ElementSet::Answer written = storage.written.covers(touch.box);
  if (written.holds != true && touch.around && storage.written.covers(*touch.around).holds == true)
    written.holds = true;
  if (written.holds == true)
    m_claims.proved(ClaimAbout::Written);
  else if (written.holds == false && touch.isExact)
    refute(ClaimAbout::Written, touch.line, storage.lastWrite != 0 ? storage.lastWrite : storage.line, touch.subject,
           fmt::format("it reads {} before anything has written it", elementText(written)), elementText(written));
  else
    unknown(ClaimAbout::Written, touch.line, touch.subject,
            touch.isExact ? "what was written before is not known"
                          : "which elements it reads depends on conditions or data");
  for (const OverwriteEvent& event : storage.overwrites) {
    if (event.time <= value.since || event.through == value.name) continue;
    const ElementSet::Answer common = boxesMeet(event.box, touch.box);
    if (common.holds == false) continue;
    if (common.holds == true && touch.isExact)
      return refute(
          ClaimAbout::Kept, touch.line, event.line, touch.subject,
          fmt::format("{} has overwritten {} of it in line {}", event.through, elementText(common), event.line),
          elementText(common));
    return unknown(ClaimAbout::Kept, touch.line, touch.subject,
                   fmt::format("{} may have overwritten it in line {}", event.through, event.line));
  }
  m_claims.proved(ClaimAbout::Kept);
}

void WrapperRun::write(const Touch& touch, bool marks) {
  const WrapperValue& value = *touch.value;
  AuditStorage& storage = m_state.storages[std::size_t(value.tensor.storage)];
  ++m_time;
  const ElementSet::Answer before = storage.written.meets(touch.box);
  if (before.holds != false) storage.overwrites.push_back({m_time, touch.line, value.name, touch.box});
  if (storage.overwrites.size() > 256) storage.overwrites.erase(storage.overwrites.begin());
  if (storage.firstWrite == 0) storage.firstWrite = touch.line;
  storage.lastWrite = touch.line;
  storage.stream.clear();  // a kernel's is noted after its accesses
  storage.unreadSince = touch.line;
  storage.unreadBy = touch.subject;
  if (marks) {
    if (touch.isExact)
      storage.written.add(touch.box);
    else
      storage.written.blur();
  }
  if (const auto named = m_state.names.find(value.name); named != m_state.names.end()) named->second.since = m_time;
}

void WrapperRun::readWhole(WrapperValue& value, int line, const std::string& subject) {
  AuditStorage& storage = m_state.storages[std::size_t(value.tensor.storage)];
  if (!hasLayout(value.tensor)) {
    storage.unreadSince = 0;
    if (storage.written.hasAll()) return m_claims.proved(ClaimAbout::Written);
    return unknown(ClaimAbout::Written, line, subject, "its sizes are not known");
  }
  const ElementBox box = value.tensor.box();
  if (box.isEmpty()) {
    storage.unreadSince = 0;
    return m_claims.proved(ClaimAbout::Written);
  }
  read({&value, box, subject, line, true, false, std::nullopt});
}

void WrapperRun::writeWhole(WrapperValue& value, int line, const std::string& subject) {
  if (!hasLayout(value.tensor)) {
    AuditStorage& storage = m_state.storages[std::size_t(value.tensor.storage)];
    storage.written.blur();
    storage.unreadSince = line;
    storage.unreadBy = subject;
    return;
  }
  const ElementBox box = value.tensor.box();
  if (!box.isEmpty()) write({&value, box, subject, line, true, false, std::nullopt}, true);
}

}  // namespace kerf::inline audit
