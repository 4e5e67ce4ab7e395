// drystone new: a scene to begin from. drystone fields: the reference of all fields of a scene.
#pragma once

#include <string>

namespace drystone::command {

struct NewOptions {
    std::string name;    ///< of a template; empty: they are listed
    std::string file;    ///< to write; empty: NAME.toml here
    bool force = false;  ///< an existing file is replaced
};

int new_command(const NewOptions& options);

struct FieldsOptions {
    std::string table;  ///< one, for a terminal; empty: all, in Markdown
    std::string renew;  ///< a document to write them into, between its markers; empty: none
};

int fields_command(const FieldsOptions& options);

}  // namespace drystone::command
