// Terminal: what the program prints. Whatever came from a file, names of files included, is escaped on its way out;
// only what Kerf itself says may move a cursor or change a colour, and only where a terminal is.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace kerf::cli {

/// Replaces stdout and stderr of the C library: all that is printed to them from now on goes through printableText().
/// Called once by main(), before anything is printed.
void guardTerminal();
/// Writes what the guard held back. At the end of the program.
void finishTerminal();

enum class ColourChoice { Auto, Always, Never };
/// --color; Auto until this is called.
void chooseColours(ColourChoice choice);
/// Whether to colour what goes to stdout or stderr. Auto: on a terminal that is not dumb, unless $NO_COLOR says no.
bool coloured(FILE* stream);
/// Whether a line of this stream can be written over.
bool isTerminal(FILE* stream);

/// Past the guard: text of Kerf's own, with control sequences; what came from files must be escaped already.
/// False when it cannot be written.
bool printTrusted(FILE* stream, std::string_view text);

enum class Tone { Error, Warning, Hint };
/// "kerf: error: text" and a newline on stderr, the text on one line; the label coloured where colours are.
void complain(Tone tone, std::string_view text);

}  // namespace kerf::cli
