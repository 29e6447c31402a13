// Fuzzy matching: how well a name fits what somebody types of it.
#pragma once

#include <QString>

namespace kerf::ui::inline shell {

/// -1 where a word of `typed` does not occur in `text`, not even letter by letter; else larger for better: whole words
/// before their beginnings, these before parts, these before scattered letters; shorter texts before longer ones.
int fuzzyScore(const QString& typed, const QString& text);

}  // namespace kerf::ui::inline shell
