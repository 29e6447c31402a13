// AuditClaim: one thing that must hold of output code, and whether it does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline audit {

enum class ClaimVerdict : std::uint8_t { Proved, Refuted, NotKnown };

enum class ClaimAbout : std::uint8_t {
  Inside,   ///< an access lies inside of its buffer
  Written,  ///< what is read was written before
  Once,     ///< no two iterations write one element, or one writes what another reads
  Alive,    ///< what is used has not been deleted
  Kept,     ///< no other buffer's write has destroyed what is read
  Layout,   ///< sizes and strides are as asserted
  Type,     ///< element types of buffers and kernels agree
  Mask,     ///< lanes beyond the end do not count
  Sums,     ///< accumulators keep what they add
  Atomic,   ///< additions at places that data gives are atomic
  Used,     ///< what is computed is used
  Launch,   ///< a kernel is called as it is defined
  Range,    ///< an index fits into the type that it is computed in
  Ordered,  ///< what is written on one stream is not used on another without a wait
  Aliases,  ///< inputs are written, and are returned, where the graph says so
  Nodes,    ///< results and inputs have the sizes and types of the graph's nodes
  Meaning,  ///< what is returned are the values of the graph's nodes
};
constexpr ClaimAbout lastOf(ClaimAbout) { return ClaimAbout::Meaning; }
constexpr std::size_t claimKinds = std::size_t(ClaimAbout::Meaning) + 1;

/// "inside", "written", …
std::string_view claimName(ClaimAbout about);
/// One sentence: what is claimed.
std::string_view claimSentence(ClaimAbout about);

struct AuditClaim {
  ClaimAbout about = ClaimAbout::Inside;
  ClaimVerdict verdict = ClaimVerdict::Proved;
  int line = 0;         ///< of the program; 1-based
  int otherLine = 0;    ///< the second statement of a counterexample; 0: there is none
  std::string subject;  ///< "buf3", "in_ptr0 of triton_poi_fused_0 (buf3)"
  std::string reason;   ///< of what is not proved: what goes wrong, or why it is not known
  std::string example;  ///< of what is refuted: "s33 = 2, element 17"
};

struct AuditReport {
  struct Count {
    int proved = 0, refuted = 0, notKnown = 0;
  };
  std::array<Count, claimKinds> counts{};
  std::vector<AuditClaim> claims;  ///< those that are not proved, in the order of the program
  int kernels = 0, calls = 0, buffers = 0;

  Count total() const;
};

}  // namespace kerf::inline audit
