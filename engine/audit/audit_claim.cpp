#include "engine/audit/audit_claim.h"

namespace kerf::inline audit {
namespace {

struct ClaimText {
  std::string_view name, sentence;
};

constexpr std::array<ClaimText, claimKinds> texts = {{
    {"inside", "every access lies inside of its buffer"},
    {"written", "what is read was written before"},
    {"once", "no two iterations meet in an element that one of them writes"},
    {"alive", "what is used has not been deleted"},
    {"kept", "what is read has not been overwritten through another name"},
    {"layout", "sizes and strides are as asserted"},
    {"type", "element types of buffers and kernels agree"},
    {"mask", "lanes beyond the end do not count"},
    {"sums", "accumulators keep what they add"},
    {"atomic", "additions at places that data gives are atomic"},
    {"used", "what is computed is used"},
    {"launch", "kernels are called as they are defined"},
    {"range", "an index fits into the type that it is computed in"},
    {"ordered", "what one stream writes another one waits for"},
    {"aliases", "inputs are written, and returned, where the graph says so"},
    {"nodes", "results and inputs have the sizes and types of the graph's nodes"},
    {"meaning", "on drawn inputs, results are those of the graph's nodes"},
}};

}  // namespace

std::string_view claimName(ClaimAbout about) { return texts[std::size_t(about)].name; }
std::string_view claimSentence(ClaimAbout about) { return texts[std::size_t(about)].sentence; }

AuditReport::Count AuditReport::total() const {
  Count all;
  for (const Count& each : counts) {
    all.proved += each.proved;
    all.refuted += each.refuted;
    all.notKnown += each.notKnown;
  }
  return all;
}

}  // namespace kerf::inline audit
