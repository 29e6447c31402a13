// The auditor: parses an export again, with its own tokenizer and grammar, and refuses all that is not on its lists.
//
// The rules, on one page. A file is UTF-8 without control characters (newline and blanks apart), bidirectional
// controls, byte order mark, encoding cookie, tab in an indentation, continued line or formatted string. Names are
// Python identifiers in normal form. Of statements it has
//   module     imports of the list (torch and its config modules, torch.fx, torch.nn, math, os, run_repro, …);
//              `torch.….config.NAME = LITERAL`, but no name of a program, file, folder or hook; `os.environ['TORCH…'] =
//              'text'` and os.environ.pop('TORCH…', None), but no name of a program, file or folder; `s0 = 8`;
//              `math_floor = math.floor`; `isolate_fails_code_str = None`; reset_table() and the block that shows the
//              source in tracebacks, letter by letter; `class`, `def load_args(reader)`, `load_args._version = N`,
//              `mod = Class()`, `if __name__ == '__main__'`
//   class      derives from torch.nn.Module and has `__init__(self)` and `forward(self, …)`, once each, nothing else
//   __init__   super().__init__(), self.PATH = …, self.__dict__['…'] = …, self.register_buffer/parameter(…), where …
//              makes a module or a tensor, or is a literal
//   forward    assignments to names, items and the operators' in-place forms; expressions; return; pass
//   load_args  bufN = reader.storage(…), reader.tensor|symint|const|unsupported|generator|opaque(…), strings, pass
//   main       the import of run_repro, `with torch.no_grad():`, run_repro(…)
// Of expressions: literals, names that are bound above, symbolic sizes (s0), constants of torch (dtypes, layouts,
// inf, nan), operators, conditions, items, tuples, lists, dicts, attributes that hold data (isAllowedAttribute; of self
// all but Module's own), and calls. A name of module level is defined once, and as nothing that expressions call.
// Called are functions and methods of the tables in allowed_calls.h, torch.ops.NS.OP[.OVERLOAD], classes of the
// file, torch.nn's classes in __init__, submodules (self.PATH) and targets that the user let through. getattr and
// globals take a literal name and are judged as the dotted name. What a function would call itself (callbackRule) is an
// attribute of self. No lambda, comprehension, decorator, default that is a call of another kind, try, while, for, del,
// global, exec, eval. Types are those of annotation_type.h.
// resources/docs/exports.md is this page for users; engine/capture/pt2/audit.h has the rules of a .pt2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/capture/audit/allowed_calls.h"
#include "engine/support/result.h"

namespace kerf::inline capture {

/// BadInput with the line where the text of a repro.py has what is not on the lists.
Result<void> auditExport(std::string_view text, const ExtraCalls& extra = {});

/// Whether this block of module level (a statement with the lines indented below it) may stand in an export beside the
/// others: the header of a capture is sieved with it, block by block.
bool isAllowedBlock(std::string_view block);

/// The same for Python text of a graph that is no repro: the code of forward(), or print_readable's classes, which
/// nest.
Result<void> auditGraphCode(std::string_view text, const ExtraCalls& extra = {});

/// Whether this is a value that an argument of a call may be: a number, a constant or function of the tables.
bool isAllowedName(std::string_view text);
/// Whether this only reads sizes and other properties of the names given ("L['x'].size()[0] >= 2").
bool isAllowedCondition(std::string_view text, const std::vector<std::string>& names);

/// Whether this constructs a module that __init__ may have ("Linear(in_features=2, out_features=2, bias=True)").
bool isAllowedModuleRepr(std::string_view repr);

}  // namespace kerf::inline capture
