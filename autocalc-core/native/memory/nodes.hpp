// SPDX-License-Identifier: MIT
//
// Machines with several memories (NUMA). A page is placed at the node of the thread
// that touches it first. Blocks are used again for whatever comes next, so that after
// some steps the node of a page says nothing of its next reader; and what the caller's
// thread has prepared, weights among it, is all at its node, whose memory every other
// thread then waits for. Where a process may run on the processors of several nodes,
// the pages of large blocks are therefore placed at these in turn. A process that keeps
// to one node, or has a policy of its own (numactl), keeps what it has.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace autocalc::runtime {

// The nodes with at least one of `processors`, as `folder` tells; none where it does
// not.
std::vector<int> nodes_of(const std::vector<int>& processors,
                          const std::string& folder = "/sys/devices/system/node");

// The nodes that pages had better alternate between: those of the process's processors
// where there are several and the process has no policy of its own, else none.
std::vector<int> nodes_to_share();

// Places the pages of untouched memory at `nodes` in turn. False
// where the system does not do that.
bool interleave(void* begin, std::size_t bytes, const std::vector<int>& nodes);

}  // namespace autocalc::runtime
