/* From an image back to the element's bits. */
uint element_int(uint image)
{
    return image ^ 0x80000000u;
}

uint element_uint(uint image)
{
    return image;
}

ulong element_long(ulong image)
{
    return image ^ 0x8000000000000000ul;
}

uint element_float(uint image)
{
    return image >> 31 ? image ^ 0x80000000u : ~image;
}

ulong element_double(ulong image)
{
    return image >> 63 ? image ^ 0x8000000000000000ul : ~image;
}
