// How jemalloc is set in a program of the product; the variable MALLOC_CONF goes over it. Linked
// into programs only (trueup_memory, cmake/targets.cmake): a library does not choose for others.
//
// Subjects lie all over the memory, and each change touches one of them at random: with pages of
// 4 KiB a fifth of the fold was waiting for addresses to be looked up. One arena for each processor
// instead of four keeps what the larger pages leave unused small (docs/adr/0048).

extern "C" {

// Read by jemalloc before main, under this name.
const char* malloc_conf = "thp:always,metadata_thp:always,narenas_ratio:1";
}
