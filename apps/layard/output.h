/// Whether anybody can still read what is printed.
#pragma once

namespace layard::cli {

/// Whether standard output is closed, its reader is gone, or something printed was lost: what would
/// be computed for it is computed for nobody. A full disk shows only when it is written to.
bool output_is_lost();

}  // namespace layard::cli
