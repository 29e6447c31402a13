#include "ui/shell/fuzzy_match.h"

#include <algorithm>

#include <QStringList>

namespace kerf::ui::inline shell {
namespace {

constexpr int whole = 4000, beginning = 3000, inside = 2000, scattered = 1000;

bool startsWord(const QString& text, qsizetype at) { return at == 0 || !text[at - 1].isLetterOrNumber(); }

bool endsWord(const QString& text, qsizetype at) { return at == text.size() || !text[at].isLetterOrNumber(); }

/// Letters of `word` in order, anywhere in `text`; the gaps between them count against it. -1: not there.
int scatteredScore(const QString& word, const QString& text) {
  qsizetype at = -1;
  int gaps = 0;
  for (const QChar letter : word) {
    const auto next = text.indexOf(letter, at + 1, Qt::CaseInsensitive);
    if (next < 0) return -1;
    gaps += at >= 0 && next != at + 1;
    at = next;
  }
  return scattered - 100 * std::min(gaps, 9);
}

int wordScore(const QString& word, const QString& text) {
  int best = -1;
  for (auto at = text.indexOf(word, 0, Qt::CaseInsensitive); at >= 0;
       at = text.indexOf(word, at + 1, Qt::CaseInsensitive)) {
    const bool starts = startsWord(text, at);
    best = std::max(best, starts && endsWord(text, at + word.size()) ? whole : starts ? beginning : inside);
  }
  return best >= 0 ? best : scatteredScore(word, text);
}

}  // namespace

int fuzzyScore(const QString& typed, const QString& text) {
  int sum = 0;
  for (const auto& word : typed.split(' ', Qt::SkipEmptyParts)) {
    const int score = wordScore(word, text);
    if (score < 0) return -1;
    sum += score;
  }
  return sum + int(std::max<qsizetype>(0, 99 - text.size()));
}

}  // namespace kerf::ui::inline shell
