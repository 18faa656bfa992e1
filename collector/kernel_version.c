/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kernel_version.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static bool parse_number(const char **text, uint32_t *out)
{
	uint32_t n = 0;

	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); ++*text)
		n = n < 100000 ? n * 10 + (uint32_t)(**text - '0') : n;
	*out = n;
	return true;
}

/* "A.B" or "A.B.C"; whatever follows is not looked at. */
static bool parse_triple(const char *text, struct kernel_version *out)
{
	*out = (struct kernel_version){ 0 };
	if (!parse_number(&text, &out->major) || *text++ != '.' ||
	    !parse_number(&text, &out->minor))
		return false;
	if (*text++ == '.')
		(void)parse_number(&text, &out->patch);
	return true;
}

/* Takes over the patch level of `text` when it speaks of the same release. */
static void refine(const char *text, struct kernel_version *v)
{
	struct kernel_version told;

	if (parse_triple(text, &told) && told.major == v->major && told.minor == v->minor)
		v->patch = told.patch;
}

bool kernel_version_parse(const char *release, const char *build, const char *signature,
			  struct kernel_version *out)
{
	static const char debian[] = "Debian ";
	const char *found;

	if (!parse_triple(release, out))
		return false;
	found = strstr(build, debian);
	if (found)
		refine(found + sizeof(debian) - 1, out);
	found = signature ? strrchr(signature, ' ') : NULL;
	if (found)
		refine(found + 1, out);
	return true;
}

int kernel_version_running(struct kernel_version *out)
{
	char signature[256] = "";
	struct utsname name;
	int fd;

	if (uname(&name) != 0)
		return -errno;
	fd = open("/proc/version_signature", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t n = read(fd, signature, sizeof(signature) - 1);

		signature[n > 0 ? n : 0] = '\0';
		close(fd);
	}
	return kernel_version_parse(name.release, name.version, signature, out) ? 0 : -EINVAL;
}

bool kernel_version_before(const struct kernel_version *v, uint32_t major, uint32_t minor,
			   uint32_t patch)
{
	if (v->major != major)
		return v->major < major;
	if (v->minor != minor)
		return v->minor < minor;
	return v->patch < patch;
}
