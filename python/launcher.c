/* The command of the Python package: all of it is in the library beside it. */
extern void eccbench_main(void);

int main(void) {
	eccbench_main();
	return 1; /* never */
}
