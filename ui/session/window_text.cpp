#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

struct Wording {
  const char *command, *window;
};
/// Longer ones before those that they begin with.
constexpr Wording wordings[] = {
    {"with --python", "in the settings of Minify"},
    {"(--expect)", "(Expected values…)"},
    {"as in --sym s0=8", "as in s0=8"},
    {"--sym gives values to symbols", "the field above the graph gives values to symbols"},
    {"--sym ", "Size "},
    {"--inputs ", "Inputs "},
    {"--match", "“Only failures with”"},
    {"--any-failure", "“Every failure counts”"},
    {"--check CMD", "a program"},
    {"--check", "the program"},
    {"--fails-if", "“Fails if”"},
    {"--backend", "the backend"},
    {"--oracle engine", "Kerf's engine"},
    {"--oracle command", "a command"},
    {"--oracle torch", "PyTorch"},
    {"--plant", "a planted fault"},
    {"--option NAME=VALUE", "an option"},
    {"--by ", "by "},
};

}  // namespace

QString windowText(std::string_view said) {
  auto shown = text(said);
  for (const auto& wording : wordings) shown.replace(wording.command, QString::fromUtf8(wording.window));
  return shown;
}

QString windowText(const Error& error) { return windowText(error.text()); }

}  // namespace kerf::ui::inline session
