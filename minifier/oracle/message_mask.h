// maskedMessage(): what of a message stays the same when the graph that it is about shrinks.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline minifier::inline oracle {

/// `text` on one line of at most 200 characters. Numbers are N (lists of them one N), addresses ADDR, hashes HASH,
/// paths PATH with their line and column; numbers at the end of names go ("relu_12", "buf7", "arg3_1") and what a
/// kernel fuses ("triton_poi_fused_add_relu_0"); members of sets and dicts are in the order of the alphabet. dtypes and
/// names of ops stay.
std::string maskedMessage(std::string_view text);

}  // namespace kerf::inline minifier::inline oracle
